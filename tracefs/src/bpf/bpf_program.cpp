// SPDX-License-Identifier: MIT
#include "bpf/bpf_program.hpp"

#include <limits>

#include "kernel/error.hpp"

namespace eventlog::tracefs {
namespace {

constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

[[noreturn]] void refuse_program() {
    throw error("What is to be counted is too long for a BPF program. Ask for less at once.");
}

std::int16_t jump_offset(std::int64_t offset) {
    if (offset < std::numeric_limits<std::int16_t>::min() ||
        offset > std::numeric_limits<std::int16_t>::max()) {
        refuse_program();
    }
    return static_cast<std::int16_t>(offset);
}

std::uint8_t code_of(std::size_t size) {
    switch (size) {
        case 1:
            return BPF_B;
        case 2:
            return BPF_H;
        case 4:
            return BPF_W;
        case 8:
            return BPF_DW;
        default:
            refuse_program();
    }
}

std::uint8_t joined(unsigned one, unsigned other, unsigned third = 0) noexcept {
    return static_cast<std::uint8_t>(one | other | third);
}

}  // namespace

bpf_program::label bpf_program::make_label() {
    label_targets_.push_back(nowhere);
    return label_targets_.size() - 1;
}

void bpf_program::place(label here) {
    label_targets_[here] = instructions_.size();
}

void bpf_program::add(std::uint8_t code, reg to, reg from, std::int32_t offset,
                      std::int32_t immediate) {
    bpf_insn made{};
    made.code = code;
    made.dst_reg = static_cast<std::uint8_t>(to) & 0xfU;
    made.src_reg = static_cast<std::uint8_t>(from) & 0xfU;
    made.off = jump_offset(offset);
    made.imm = immediate;
    instructions_.push_back(made);
}

void bpf_program::load(reg to, reg base, std::int32_t offset, std::size_t size) {
    add(joined(BPF_LDX, BPF_MEM, code_of(size)), to, base, offset, 0);
}

void bpf_program::store(reg base, std::int32_t offset, reg from, std::size_t size) {
    add(joined(BPF_STX, BPF_MEM, code_of(size)), base, from, offset, 0);
}

void bpf_program::store_zero(reg base, std::int32_t offset) {
    add(joined(BPF_ST, BPF_MEM, BPF_DW), base, reg::r0, offset, 0);
}

void bpf_program::add_wide(reg to, std::uint8_t meaning, std::uint64_t value) {
    add(joined(BPF_LD, BPF_IMM, BPF_DW), to, static_cast<reg>(meaning), 0,
        static_cast<std::int32_t>(static_cast<std::uint32_t>(value)));
    add(0, reg::r0, reg::r0, 0,
        static_cast<std::int32_t>(static_cast<std::uint32_t>(value >> 32U)));
}

void bpf_program::set(reg to, std::uint64_t value) {
    const auto number = static_cast<std::int64_t>(value);
    if (number == static_cast<std::int32_t>(number)) {
        add(joined(BPF_ALU64, BPF_MOV, BPF_K), to, reg::r0, 0, static_cast<std::int32_t>(number));
    } else {
        add_wide(to, 0, value);
    }
}

void bpf_program::set_map(reg to, int map) {
    add_wide(to, BPF_PSEUDO_MAP_FD, static_cast<std::uint32_t>(map));
}

void bpf_program::set_map_value(reg to, int map) {
    add_wide(to, BPF_PSEUDO_MAP_VALUE, static_cast<std::uint32_t>(map));
}

void bpf_program::copy(reg to, reg from) {
    add(joined(BPF_ALU64, BPF_MOV, BPF_X), to, from, 0, 0);
}

void bpf_program::operate(bpf_operation what, reg to, reg with) {
    add(joined(BPF_ALU64, static_cast<unsigned>(what), BPF_X), to, with, 0, 0);
}

void bpf_program::operate(bpf_operation what, reg to, std::int32_t with) {
    add(joined(BPF_ALU64, static_cast<unsigned>(what), BPF_K), to, reg::r0, 0, with);
}

void bpf_program::negate(reg to) {
    add(joined(BPF_ALU64, BPF_NEG), to, reg::r0, 0, 0);
}

void bpf_program::add_atomically(reg base, std::int32_t offset, reg summand) {
    add(joined(BPF_STX, BPF_ATOMIC, BPF_DW), base, summand, offset, BPF_ADD);
}

void bpf_program::add_jump(label to) {
    jumps_.emplace_back(instructions_.size() - 1, to);
}

void bpf_program::jump(label to) {
    add(joined(BPF_JMP, BPF_JA), reg::r0, reg::r0, 0, 0);
    add_jump(to);
}

void bpf_program::jump_if(bpf_comparison how, reg one, reg other, label to) {
    add(joined(BPF_JMP, static_cast<unsigned>(how), BPF_X), one, other, 0, 0);
    add_jump(to);
}

void bpf_program::jump_if(bpf_comparison how, reg one, std::int32_t other, label to) {
    add(joined(BPF_JMP, static_cast<unsigned>(how), BPF_K), one, reg::r0, 0, other);
    add_jump(to);
}

void bpf_program::call(std::int32_t helper) {
    add(joined(BPF_JMP, BPF_CALL), reg::r0, reg::r0, 0, helper);
}

void bpf_program::exit() {
    add(joined(BPF_JMP, BPF_EXIT), reg::r0, reg::r0, 0, 0);
}

std::vector<bpf_insn> bpf_program::finish() const {
    std::vector<bpf_insn> whole = instructions_;
    for (const auto& [from, to] : jumps_) {
        if (label_targets_[to] == nowhere) {
            refuse_program();
        }
        whole[from].off = jump_offset(static_cast<std::int64_t>(label_targets_[to]) -
                                      static_cast<std::int64_t>(from) - 1);
    }
    return whole;
}

}  // namespace eventlog::tracefs
