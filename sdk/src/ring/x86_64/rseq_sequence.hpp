// SPDX-License-Identifier: MIT
//
// The frame of a restartable sequence on x86-64. Included by rseq_sequence.hpp, which explains it.
//
// Stores need no barriers: this processor makes them visible in program order. The signature is
// part of an instruction (ud1), in a section of its own with the abort handler.
#pragma once

static_assert(RSEQ_SIG == 0x53053053, "the signature is in front of each label 79");

// clang-format off
#define EVENTLOG_SEQUENCE_START EVENTLOG_SEQUENCE_START_IN("%[area]")

// `area` is a register with the address of the thread's area. Uses rax.
#define EVENTLOG_SEQUENCE_START_IN(area)        \
    EVENTLOG_SEQUENCE_DESCRIPTOR                \
    "leaq 70b(%%rip), %%rax\n"                  \
    "movq %%rax, %%fs:8(" area ")\n"             \
    "71:\n"

#define EVENTLOG_SEQUENCE_CLEAR "movq $0, %%fs:8(%[area])\n"
#define EVENTLOG_SEQUENCE_JUMP(label) "jmp %l[" label "]\n"
#define EVENTLOG_SEQUENCE_SIGNATURE ".byte 0x0f, 0xb9, 0x3d\n.long 0x53053053\n"
#define EVENTLOG_SEQUENCE_EXITS_BEGIN ".pushsection __rseq_failure, \"ax\"\n"
#define EVENTLOG_SEQUENCE_EXITS_END ".popsection\n"

// The abort handler for code without goto labels: loads the area's address from the memory operand
// `kept_in`, and ends with the instructions `way_out`. Uses r11.
#define EVENTLOG_SEQUENCE_ABORT_IN(kept_in, way_out) \
    EVENTLOG_SEQUENCE_EXITS_BEGIN                   \
    EVENTLOG_SEQUENCE_SIGNATURE                     \
    "79:\n"                                         \
    "73:\n"                                         \
    "movq " kept_in ", %%r11\n"                     \
    "movq $0, %%fs:8(%%r11)\n"                      \
    way_out                                         \
    EVENTLOG_SEQUENCE_EXITS_END

#define EVENTLOG_MEMBER(object, member) "%c[" #object "_" #member "](%[" #object "])"

// Locates a record of `units` (a register) in the ring of the current CPU: r8 = ring, r9 = record,
// rcx = CPU. Uses rax, rdx. (Outputs of an asm goto would save registers, but g++ before 12.4
// compiles them wrong.) A thread without sequences has no valid CPU in its area and exits before it
// reads the region, which nothing would keep mapped.
#define EVENTLOG_SEQUENCE_LOCATE_RECORD(units)                             \
    "movl %%fs:4(%[area]), %%ecx\n"                                      \
    "cmpq %[mapping], " EVENTLOG_MEMBER(slot, mapping) "\n"               \
    "jne 75f\n"                                                         \
    "cmpl " EVENTLOG_MEMBER(slot, cpus) ", %%ecx\n"                    \
    "jae 76f\n"                                                         \
    "movq " EVENTLOG_MEMBER(slot, state) ", %%rax\n"                    \
    "cmpl %[live], (%%rax)\n"                                           \
    "jne 75f\n"                                                         \
    "movq " EVENTLOG_MEMBER(slot, ring_stride) ", %%r8\n"               \
    "imulq %%rcx, %%r8\n"                                               \
    "addq " EVENTLOG_MEMBER(slot, rings) ", %%r8\n"                     \
    "movq (%%r8), %%rax\n"                                              \
    "movl %%eax, %%edx\n"                                               \
    "andl %[position_mask], %%edx\n"                                    \
    "leaq (%%rdx, " units "), %%r9\n"                                   \
    "cmpq " EVENTLOG_MEMBER(slot, buffer_units) ", %%r9\n"              \
    "ja 74f\n"                                                          \
    "shrq $" EVENTLOG_GENERATION_TEXT ", %%rax\n"                          \
    "andq " EVENTLOG_MEMBER(slot, buffer_mask) ", %%rax\n"              \
    "imulq " EVENTLOG_MEMBER(slot, buffer_size) ", %%rax\n"             \
    "leaq (%%rax, %%rdx, 8), %%rax\n"                                   \
    "movq " EVENTLOG_MEMBER(slot, ring_bytes) ", %%r9\n"                \
    "imulq %%rcx, %%r9\n"                                               \
    "addq " EVENTLOG_MEMBER(slot, first_buffer) ", %%r9\n"              \
    "addq %%rax, %%r9\n"

// Few register operands: with an aligned stack and a frame pointer, sanitizers leave 13 registers
// in all.
#define EVENTLOG_SLOT_OPERANDS(cpus)                                                    \
    [area] "r"(rseq_area), [slot] "r"(&slot), [mapping] "r"(mapping),                     \
    [live] "i"(EVENTLOG_REGION_LIVE), [position_mask] "i"(EVENTLOG_POSITION_MASK),      \
    EVENTLOG_SLOT_MEMBERS(cpus)
// clang-format on
