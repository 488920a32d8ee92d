// SPDX-License-Identifier: MIT
//
// Assembler for BPF programs: appends instructions and resolves jumps to labels.
#pragma once

#include <linux/bpf.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace eventlog::tracefs {

/// r0 is the result of a call, r1 to r5 are its arguments and clobbered, r6 to r9 are preserved.
/// The 512 bytes below r10 are the stack.
enum class bpf_register : std::uint8_t { r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10 };

enum class bpf_operation : std::uint8_t {
    add = BPF_ADD,
    subtract = BPF_SUB,
    multiply = BPF_MUL,
    divide = BPF_DIV,  // unsigned
    bits_or = BPF_OR,
    bits_and = BPF_AND,
    shift_left = BPF_LSH,
    shift_right = BPF_RSH,
    shift_right_signed = BPF_ARSH,
};

enum class bpf_comparison : std::uint8_t {
    equal = BPF_JEQ,
    unequal = BPF_JNE,
    greater = BPF_JGT,
    greater_equal = BPF_JGE,
    less = BPF_JLT,
    less_equal = BPF_JLE,
    greater_signed = BPF_JSGT,
    greater_equal_signed = BPF_JSGE,
    less_signed = BPF_JSLT,
    less_equal_signed = BPF_JSLE,
};

inline constexpr std::int32_t bpf_stack_size = 512;

class bpf_program {
  public:
    using reg = bpf_register;
    using label = std::size_t;

    [[nodiscard]] label make_label();
    /// Binds the label to the next instruction. Once for each label.
    void place(label here);

    /// Loads 1, 2, 4 or 8 bytes; the upper bytes of the register become 0.
    void load(reg to, reg base, std::int32_t offset, std::size_t size);
    void store(reg base, std::int32_t offset, reg from, std::size_t size);
    /// Stores 8 bytes.
    void store_zero(reg base, std::int32_t offset);
    void set(reg to, std::uint64_t value);
    void copy(reg to, reg from);
    void operate(bpf_operation what, reg to, reg with);
    void operate(bpf_operation what, reg to, std::int32_t with);
    /// Two's complement of all 64 bits.
    void negate(reg to);
    /// Adds to 8 bytes of memory atomically.
    void add_atomically(reg base, std::int32_t offset, reg summand);

    void jump(label to);
    void jump_if(bpf_comparison how, reg one, reg other, label to);
    void jump_if(bpf_comparison how, reg one, std::int32_t other, label to);

    /// A map by its file descriptor: for calls, or the address of the only element of an array.
    void set_map(reg to, int map);
    void set_map_value(reg to, int map);
    void call(std::int32_t helper);
    void exit();

    /// Throws error if a jump is too long.
    [[nodiscard]] std::vector<bpf_insn> finish() const;

  private:
    void add(std::uint8_t code, reg to, reg from, std::int32_t offset, std::int32_t immediate);
    void add_wide(reg to, std::uint8_t meaning, std::uint64_t value);
    void add_jump(label to);

    std::vector<bpf_insn> instructions_;
    std::vector<std::size_t> label_targets_;            // by label
    std::vector<std::pair<std::size_t, label>> jumps_;  // instruction and its target
};

}  // namespace eventlog::tracefs
