// SPDX-License-Identifier: MIT
//
// Instructions of the kernel's BPF machine, against its documentation.
#include "bpf/bpf_program.hpp"

#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "kernel/error.hpp"

namespace {

using eventlog::tracefs::bpf_comparison;
using eventlog::tracefs::bpf_operation;
using eventlog::tracefs::bpf_program;
using reg = eventlog::tracefs::bpf_register;

/// Code, destination and source registers, offset, number.
using fields = std::tuple<int, int, int, int, int>;

std::vector<fields> fields_of(const bpf_program& program) {
    std::vector<fields> all;
    for (const bpf_insn& each : program.finish()) {
        all.emplace_back(each.code, each.dst_reg, each.src_reg, each.off, each.imm);
    }
    return all;
}

TEST(bpf_program, loads_and_stores_memory) {
    bpf_program program;
    program.load(reg::r1, reg::r6, 24, 2);
    program.store(reg::r10, -8, reg::r2, 8);
    program.store_zero(reg::r10, -16);
    program.add_atomically(reg::r1, 8, reg::r2);
    EXPECT_EQ(
        fields_of(program),
        (std::vector<fields>{
            {0x69, 1, 6, 24, 0}, {0x7b, 10, 2, -8, 0}, {0x7a, 10, 0, -16, 0}, {0xdb, 1, 2, 8, 0}}));
}

TEST(bpf_program, emits_arithmetic) {
    bpf_program program;
    program.set(reg::r0, 1);
    program.copy(reg::r6, reg::r1);
    program.operate(bpf_operation::add, reg::r2, -24);
    program.operate(bpf_operation::divide, reg::r2, reg::r3);
    program.operate(bpf_operation::shift_right_signed, reg::r8, 63);
    program.negate(reg::r8);
    program.call(BPF_FUNC_map_lookup_elem);
    program.exit();
    EXPECT_EQ(fields_of(program), (std::vector<fields>{{0xb7, 0, 0, 0, 1},
                                                       {0xbf, 6, 1, 0, 0},
                                                       {0x07, 2, 0, 0, -24},
                                                       {0x3f, 2, 3, 0, 0},
                                                       {0xc7, 8, 0, 0, 63},
                                                       {0x87, 8, 0, 0, 0},
                                                       {0x85, 0, 0, 0, 1},
                                                       {0x95, 0, 0, 0, 0}}));
}

TEST(bpf_program, uses_two_instructions_for_64_bit_immediates) {
    bpf_program program;
    program.set(reg::r1, ~std::uint64_t{0});
    program.set(reg::r1, 0x80000000);
    program.set(reg::r2, 0x0123456789abcdef);
    program.set_map(reg::r1, 7);
    program.set_map_value(reg::r3, 9);
    EXPECT_EQ(fields_of(program),
              (std::vector<fields>{{0xb7, 1, 0, 0, -1},
                                   {0x18, 1, 0, 0, INT32_MIN},
                                   {0, 0, 0, 0, 0},
                                   {0x18, 2, 0, 0, static_cast<int>(0x89abcdef)},
                                   {0, 0, 0, 0, 0x01234567},
                                   {0x18, 1, BPF_PSEUDO_MAP_FD, 0, 7},
                                   {0, 0, 0, 0, 0},
                                   {0x18, 3, BPF_PSEUDO_MAP_VALUE, 0, 9},
                                   {0, 0, 0, 0, 0}}));
}

TEST(bpf_program, resolves_forward_and_backward_jumps) {
    bpf_program program;
    const bpf_program::label begin = program.make_label();
    const bpf_program::label end = program.make_label();
    program.place(begin);
    program.jump_if(bpf_comparison::equal, reg::r1, 0, end);
    program.jump_if(bpf_comparison::less_signed, reg::r1, reg::r2, begin);
    program.jump(end);
    program.place(end);
    program.exit();
    EXPECT_EQ(
        fields_of(program),
        (std::vector<fields>{
            {0x15, 1, 0, 2, 0}, {0xcd, 1, 2, -2, 0}, {0x05, 0, 0, 0, 0}, {0x95, 0, 0, 0, 0}}));
}

TEST(bpf_program, rejects_unsupported_operations) {
    using eventlog::tracefs::error;
    bpf_program program;
    EXPECT_THROW(program.load(reg::r1, reg::r6, 40000, 8), error);
    EXPECT_THROW(program.load(reg::r1, reg::r6, 0, 3), error);
    const bpf_program::label far = program.make_label();
    program.jump(far);
    EXPECT_THROW(static_cast<void>(program.finish()), error);  // an undefined label
    for (int i = 0; i < 40000; ++i) {
        program.exit();
    }
    program.place(far);
    EXPECT_THROW(static_cast<void>(program.finish()), error);
}

}  // namespace
