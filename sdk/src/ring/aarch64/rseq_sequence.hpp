// SPDX-License-Identifier: MIT
//
// The frame of a restartable sequence on aarch64. Included by rseq_sequence.hpp, which explains it.
//
// This processor may reorder stores and loads (linux/eventlog.h, RULES FOR ORDERING). A sequence
// ensures two orderings. It commits with a store-release (stlr), so a reader that loads the control
// word with acquire sees all earlier stores. And a barrier (dmb ish) follows a descriptor's new
// generation. Everything else is between threads of one CPU, or threads and handlers: a CPU sees
// its own stores and loads in program order, and switches threads behind a barrier. Values loaded
// before the sequence and compared inside it (a mapping, the gate's word) are loaded with acquire.
//
// The exits have no section of their own: conditional branches reach only one mebibyte.
#pragma once

static_assert(RSEQ_SIG == 0xd428bc00, "the signature is in front of each label 79");

// clang-format off
// The address of the thread's rseq area.
#define EVENTLOG_THREAD_AREA (static_cast<char*>(__builtin_thread_pointer()) + rseq_area)

// A member of a struct whose address and offset are operands.
#define EVENTLOG_MEMBER(object, member) "[%[" #object "], %c[" #object "_" #member "]]"

// Uses x16.
#define EVENTLOG_SEQUENCE_START                 \
    EVENTLOG_SEQUENCE_DESCRIPTOR                \
    "adrp x16, 70b\n"                           \
    "add x16, x16, :lo12:70b\n"                 \
    "str x16, [%[area], 8]\n"                   \
    "71:\n"

#define EVENTLOG_SEQUENCE_CLEAR "str xzr, [%[area], 8]\n"
#define EVENTLOG_SEQUENCE_JUMP(label) "b %l[" label "]\n"
#define EVENTLOG_SEQUENCE_SIGNATURE ".inst 0xd428bc00\n"
#define EVENTLOG_SEQUENCE_EXITS_BEGIN "b 77f\n"
#define EVENTLOG_SEQUENCE_EXITS_END "77:\n"

// Locates a record of `units` (a register) in the ring of the current CPU: x9 = CPU, x10 = ring,
// x11 = control word, x12 = record. Uses x13, x14. A thread without sequences has no valid CPU in
// its area and exits before it reads the region, which nothing would keep mapped.
#define EVENTLOG_SEQUENCE_LOCATE_RECORD(units)                 \
    "ldr w9, [%[area], 4]\n"                                \
    "ldr x13, " EVENTLOG_MEMBER(slot, mapping) "\n"          \
    "cmp x13, %[mapping]\n"                                  \
    "b.ne 75f\n"                                            \
    "ldr w13, " EVENTLOG_MEMBER(slot, cpus) "\n"            \
    "cmp w9, w13\n"                                         \
    "b.hs 76f\n"                                            \
    "ldr x13, " EVENTLOG_MEMBER(slot, state) "\n"           \
    "ldr w13, [x13]\n"                                      \
    "cmp w13, %w[live]\n"                                   \
    "b.ne 75f\n"                                            \
    "ldr x10, " EVENTLOG_MEMBER(slot, ring_stride) "\n"     \
    "ldr x13, " EVENTLOG_MEMBER(slot, rings) "\n"           \
    "madd x10, x10, x9, x13\n"                              \
    "ldr x11, [x10]\n"                                      \
    "and x12, x11, %[position_mask]\n"                      \
    "add x13, x12, " units "\n"                             \
    "ldr x14, " EVENTLOG_MEMBER(slot, buffer_units) "\n"    \
    "cmp x13, x14\n"                                        \
    "b.hi 74f\n"                                            \
    "lsr x13, x11, " EVENTLOG_GENERATION_TEXT "\n"            \
    "ldr x14, " EVENTLOG_MEMBER(slot, buffer_mask) "\n"     \
    "and x13, x13, x14\n"                                   \
    "ldr x14, " EVENTLOG_MEMBER(slot, buffer_size) "\n"     \
    "mul x13, x13, x14\n"                                   \
    "add x13, x13, x12, lsl 3\n"                            \
    "ldr x14, " EVENTLOG_MEMBER(slot, ring_bytes) "\n"      \
    "madd x13, x14, x9, x13\n"                              \
    "ldr x14, " EVENTLOG_MEMBER(slot, first_buffer) "\n"    \
    "add x12, x13, x14\n"

// Reads the processor's counter. The barrier orders it behind the read for the CPU's previous
// record.
#define EVENTLOG_SEQUENCE_READ_CLOCK(to)        \
    "isb\n"                                     \
    "mrs " to ", cntvct_el0\n"

// Commits a record of `units`; the old control word is in x11. Uses x13.
#define EVENTLOG_SEQUENCE_COMMIT(units)         \
    "add x11, x11, " units "\n"                 \
    "mov x13, %[one_record]\n"                  \
    "add x11, x11, x13\n"                       \
    "stlr x11, [x10]\n"

#define EVENTLOG_SLOT_OPERANDS(cpus)                                                        \
    [area] "r"(EVENTLOG_THREAD_AREA), [slot] "r"(&slot), [mapping] "r"(mapping),              \
    [live] "r"(std::uint32_t{EVENTLOG_REGION_LIVE}),                                        \
    [position_mask] "i"(EVENTLOG_POSITION_MASK), [one_record] "i"(1U << EVENTLOG_COUNT_SHIFT), \
    EVENTLOG_SLOT_MEMBERS(cpus)
// clang-format on
