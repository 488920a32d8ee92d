// SPDX-License-Identifier: MIT
//
// The text of BPF instructions, in the notation of the kernel's verifier.
#include "bpf/bpf_listing.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bpf/bpf_program.hpp"

namespace {

using eventlog::tracefs::bpf_comparison;
using eventlog::tracefs::bpf_operation;
using eventlog::tracefs::bpf_program;
using reg = eventlog::tracefs::bpf_register;

std::string listing_of(const bpf_program& program) {
    static constexpr const char* maps[] = {"table", "zeros"};
    return eventlog::tracefs::list_instructions(program.finish(), maps);
}

TEST(bpf_listing, shows_memory) {
    bpf_program program;
    program.load(reg::r1, reg::r6, 24, 2);
    program.load(reg::r3, reg::r10, -4, 1);
    program.store(reg::r10, -8, reg::r2, 8);
    program.store(reg::r10, -12, reg::r2, 4);
    program.store_zero(reg::r10, -16);
    program.add_atomically(reg::r1, 8, reg::r2);
    EXPECT_EQ(listing_of(program), "   0: (69) r1 = *(u16 *)(r6 +24)\n"
                                   "   1: (71) r3 = *(u8 *)(r10 -4)\n"
                                   "   2: (7b) *(u64 *)(r10 -8) = r2\n"
                                   "   3: (63) *(u32 *)(r10 -12) = r2\n"
                                   "   4: (7a) *(u64 *)(r10 -16) = 0\n"
                                   "   5: (db) lock *(u64 *)(r1 +8) += r2\n");
}

TEST(bpf_listing, shows_arithmetic) {
    bpf_program program;
    program.set(reg::r0, 1);
    program.copy(reg::r6, reg::r1);
    program.operate(bpf_operation::add, reg::r2, -24);
    program.operate(bpf_operation::subtract, reg::r2, reg::r4);
    program.operate(bpf_operation::multiply, reg::r2, 3);
    program.operate(bpf_operation::divide, reg::r2, reg::r3);
    program.operate(bpf_operation::bits_or, reg::r2, 7);
    program.operate(bpf_operation::bits_and, reg::r2, 7);
    program.operate(bpf_operation::shift_left, reg::r8, 32);
    program.operate(bpf_operation::shift_right, reg::r8, 32);
    program.operate(bpf_operation::shift_right_signed, reg::r8, 63);
    program.negate(reg::r8);
    EXPECT_EQ(listing_of(program), "   0: (b7) r0 = 1\n"
                                   "   1: (bf) r6 = r1\n"
                                   "   2: (07) r2 += -24\n"
                                   "   3: (1f) r2 -= r4\n"
                                   "   4: (27) r2 *= 3\n"
                                   "   5: (3f) r2 /= r3\n"
                                   "   6: (47) r2 |= 7\n"
                                   "   7: (57) r2 &= 7\n"
                                   "   8: (67) r8 <<= 32\n"
                                   "   9: (77) r8 >>= 32\n"
                                   "  10: (c7) r8 s>>= 63\n"
                                   "  11: (87) r8 = -r8\n");
}

TEST(bpf_listing, counts_a_wide_number_as_two_instructions) {
    bpf_program program;
    program.set(reg::r2, 0x0123456789abcdef);
    program.set_map(reg::r1, 0);
    program.set_map_value(reg::r3, 1);
    program.set_map(reg::r1, 7);
    program.exit();
    EXPECT_EQ(listing_of(program), "   0: (18) r2 = 0x123456789abcdef\n"
                                   "   2: (18) r1 = map table\n"
                                   "   4: (18) r3 = &map zeros[0]\n"
                                   "   6: (18) r1 = map 7\n"
                                   "   8: (95) exit\n");
}

TEST(bpf_listing, shows_targets_of_jumps) {
    bpf_program program;
    const bpf_program::label begin = program.make_label();
    const bpf_program::label end = program.make_label();
    program.place(begin);
    program.jump_if(bpf_comparison::equal, reg::r1, 0, end);
    program.jump_if(bpf_comparison::unequal, reg::r1, -1, end);
    program.jump_if(bpf_comparison::greater, reg::r1, reg::r2, end);
    program.jump_if(bpf_comparison::less_equal_signed, reg::r1, reg::r2, begin);
    program.jump(end);
    program.call(BPF_FUNC_map_lookup_elem);
    program.call(12345);
    program.place(end);
    program.exit();
    EXPECT_EQ(listing_of(program), "   0: (15) if r1 == 0 goto 7\n"
                                   "   1: (55) if r1 != -1 goto 7\n"
                                   "   2: (2d) if r1 > r2 goto 7\n"
                                   "   3: (dd) if r1 s<= r2 goto 0\n"
                                   "   4: (05) goto 7\n"
                                   "   5: (85) call bpf_map_lookup_elem\n"
                                   "   6: (85) call 12345\n"
                                   "   7: (95) exit\n");
}

TEST(bpf_listing, accepts_any_instruction) {
    std::vector<bpf_insn> all;
    for (unsigned code = 0; code < 256; ++code) {
        bpf_insn each{};
        each.code = static_cast<__u8>(code);
        each.imm = -1;
        all.push_back(each);
    }
    // A wide load without its second half.
    all.push_back({BPF_LD | BPF_IMM | BPF_DW, 0, 0, 0, 0});
    const std::string text = eventlog::tracefs::list_instructions(all, {});
    EXPECT_NE(text.find("   0: (00) \n"), std::string::npos);
    EXPECT_TRUE(text.ends_with(" 256: (18) \n"));
}

}  // namespace
