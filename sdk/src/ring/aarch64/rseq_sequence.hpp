// SPDX-License-Identifier: MIT
//
// The frame of a restartable sequence on aarch64. Included by rseq_sequence.hpp, which explains it.
//
// Of the order of stores and loads (linux/eventlog.h, ORDER), which this processor is free to
// change, a sequence has to see to two things: it commits with a store-release (stlr), so that
// whoever loads the control word with acquire sees all that was stored before; and there is a
// barrier (dmb ish) behind a descriptor's new generation. Everything else is between threads of
// one CPU, or threads and handlers: a CPU sees its own stores and loads in the order of the
// program, and changes from one thread to another behind a barrier. What is loaded in front of the
// sequence and compared with something in it (a serial, the gate's word) is loaded with acquire
// there.
//
// Nothing here is in a section of its own: conditional branches reach no further than a mebibyte.
#pragma once

static_assert(RSEQ_SIG == 0xd428bc00, "the signature stands in front of each label 79");

// clang-format off
// Where the thread's area is.
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

#define EVENTLOG_SEQUENCE_END                   \
    "72:\n"                                     \
    "str xzr, [%[area], 8]\n"

// The abort handler, which leaves for a goto label of that name. It traps if it is run into.
#define EVENTLOG_SEQUENCE_ABORT(label)          \
    ".inst 0xd428bc00\n"                        \
    "79:\n"                                     \
    "73:\n"                                     \
    "str xzr, [%[area], 8]\n"                   \
    "b %l[" label "]\n"

// Behind label 72; goto labels of those names.
#define EVENTLOG_SEQUENCE_EXITS              \
    "b 77f\n"                                   \
    EVENTLOG_SEQUENCE_ABORT("aborted")          \
    "74:\n"                                     \
    "str xzr, [%[area], 8]\n"                   \
    "b %l[changed]\n"                           \
    "75:\n"                                     \
    "str xzr, [%[area], 8]\n"                   \
    "b %l[stale]\n"                             \
    "76:\n"                                     \
    "str xzr, [%[area], 8]\n"                   \
    "b %l[elsewhere]\n"                         \
    "77:\n"

// Finds the place for a record of `units` (a register) in the ring of the CPU that this runs on:
// x9 = CPU, x10 = ring, x11 = control word, x12 = record. Uses x13, x14. A thread that has no
// sequences has no CPU in its area either and leaves before it reads the region: nothing would keep
// that mapped.
#define EVENTLOG_SEQUENCE_LOCATE_RECORD(units)                 \
    "ldr w9, [%[area], 4]\n"                                \
    "ldr x13, " EVENTLOG_MEMBER(slot, serial) "\n"          \
    "cmp x13, %[serial]\n"                                  \
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
    "lsr x13, x11, %[generation_shift]\n"                   \
    "ldr x14, " EVENTLOG_MEMBER(slot, buffer_mask) "\n"     \
    "and x13, x13, x14\n"                                   \
    "ldr x14, " EVENTLOG_MEMBER(slot, buffer_size) "\n"     \
    "mul x13, x13, x14\n"                                   \
    "add x13, x13, x12, lsl 3\n"                            \
    "ldr x14, " EVENTLOG_MEMBER(slot, ring_bytes) "\n"      \
    "madd x13, x14, x9, x13\n"                              \
    "ldr x14, " EVENTLOG_MEMBER(slot, first_buffer) "\n"    \
    "add x12, x13, x14\n"

// The processor's counter. The barrier keeps it behind the one that was read before, for the CPU's
// last record: without it the order of the two would be open.
#define EVENTLOG_SEQUENCE_READ_CLOCK(to)        \
    "isb\n"                                     \
    "mrs " to ", cntvct_el0\n"

// Behind the control word's old value in x11, the commit of a record of `units`. Uses x13.
#define EVENTLOG_SEQUENCE_COMMIT(units)         \
    "add x11, x11, " units "\n"                 \
    "mov x13, %[one_record]\n"                  \
    "add x11, x11, x13\n"                       \
    "stlr x11, [x10]\n"

#define EVENTLOG_SLOT_OPERANDS(cpus)                                                        \
    [area] "r"(EVENTLOG_THREAD_AREA), [slot] "r"(&slot), [serial] "r"(serial),              \
    [live] "r"(std::uint32_t{EVENTLOG_REGION_LIVE}),                                        \
    [position_mask] "i"(EVENTLOG_POSITION_MASK), [one_record] "i"(1U << EVENTLOG_COUNT_SHIFT), \
    [generation_shift] "i"(EVENTLOG_GENERATION_SHIFT), EVENTLOG_SLOT_MEMBERS(cpus)
// clang-format on
