// SPDX-License-Identifier: MIT
//
// The steps of rseq.hpp on aarch64.
#include "ring/rseq.hpp"

#include "ring/rseq_sequence.hpp"
#include "ring/subscription_slots.hpp"

#if defined(__aarch64__) && EVENTLOG_HAS_SEQUENCES

namespace eventlog::core {

std::uint32_t rseq_cpu() noexcept {
    std::uint32_t cpu = 0;
    asm volatile("ldr %w[cpu], [%[area], 4]" : [cpu] "=r"(cpu) : [area] "r"(EVENTLOG_THREAD_AREA));
    return cpu;
}

void rseq_arm_pieces() noexcept {
    // clang-format off
    asm volatile(
        "adrp x16, eventlog_pieces_sequence\n\t"
        "add x16, x16, :lo12:eventlog_pieces_sequence\n\t"
        "str x16, [%[area], 8]"
        :
        : [area] "r"(EVENTLOG_THREAD_AREA)
        : "x16", "memory");
    // clang-format on
}

EVENTLOG_ONE_INSTANCE rseq_result rseq_append_pieces(const subscription_slot& slot,
                                                     std::uint64_t mapping,
                                                     const rseq_pieces& record) noexcept {
    // clang-format off
    asm goto(
        EVENTLOG_PIECES_LABEL
        EVENTLOG_SEQUENCE_DESCRIPTOR
        "adrp x16, 70b\n"
        "add x16, x16, :lo12:70b\n"
        "ldr x17, " EVENTLOG_MEMBER(record, is_armed) "\n"
        "cbnz x17, 71f\n"
        "str x16, [%[area], 8]\n"
        "71:\n"
        "ldr x17, [%[area], 8]\n"
        "cmp x17, x16\n"
        "b.ne 73f\n"
        EVENTLOG_PIECES_CHECKED
        "ldr x17, " EVENTLOG_MEMBER(record, units) "\n"
        EVENTLOG_SEQUENCE_LOCATE_RECORD("x17")
        "ldr x14, " EVENTLOG_MEMBER(record, extended) "\n"
        "orr x14, x14, x9, lsl 32\n"
        "str x14, [x12, 16]\n"
        "ldr x13, " EVENTLOG_MEMBER(record, time) "\n"
        "cbnz x13, 1f\n"
        EVENTLOG_SEQUENCE_READ_CLOCK("x13")
        "1:\n"
        "ldr x14, [%[record]]\n"
        "mov w15, w13\n"
        "orr x14, x14, x15\n"
        "ldr x15, " EVENTLOG_MEMBER(record, thread) "\n"
        "orr x15, x15, x13, lsr 32\n"
        "stp x14, x15, [x12]\n"
        // x13: pieces; x14, x15: address and remaining size of a piece; x12: destination.
        "add x12, x12, 24\n"
        "ldr x13, " EVENTLOG_MEMBER(record, pieces) "\n"
        "2:\n"
        "ldp x14, x15, [x13], 16\n"
        "3:\n"
        "subs x15, x15, 8\n"
        "b.lo 4f\n"
        "ldr x16, [x14], 8\n"
        "str x16, [x12], 8\n"
        "b 3b\n"
        "4:\n"
        "adds x15, x15, 8\n"
        "b.eq 6f\n"
        "5:\n"
        "ldrb w16, [x14], 1\n"
        "strb w16, [x12], 1\n"
        "subs x15, x15, 1\n"
        "b.ne 5b\n"
        "6:\n"
        "ldr x16, " EVENTLOG_MEMBER(record, end) "\n"
        "cmp x13, x16\n"
        "b.ne 2b\n"
        "ldr x14, " EVENTLOG_MEMBER(record, padding) "\n"
        "cbz x14, 8f\n"
        "7:\n"
        "strb wzr, [x12], 1\n"
        "subs x14, x14, 1\n"
        "b.ne 7b\n"
        "8:\n"
        EVENTLOG_SEQUENCE_COMMIT("x17")
        EVENTLOG_SEQUENCE_END
        EVENTLOG_SEQUENCE_EXITS
        :
        : EVENTLOG_SLOT_OPERANDS(sequence_cpus), [record] "r"(&record), EVENTLOG_PIECES_MEMBERS
        : "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "memory", "cc"
        : aborted, changed, stale, elsewhere);
    EVENTLOG_SEQUENCE_RESULTS
    // clang-format on
}

rseq_result rseq_append_context(const subscription_slot& slot, std::uint64_t mapping,
                                std::uint64_t head, std::uint64_t context, std::uint64_t units,
                                const void* payload) noexcept {
    // As in x86_64/rseq.cpp. A leaves for B: x9 the CPU, x10 the ring, x11 the committed control
    // word, x12 the buffer's descriptor, x15 its generation, x17 the context.
    head |= std::uint64_t{EVENTLOG_KIND_CONTEXT} << EVENTLOG_KIND_SHIFT;
    // clang-format off
    asm goto(
        EVENTLOG_SEQUENCE_START
        EVENTLOG_SEQUENCE_READ_CLOCK("x15")
        EVENTLOG_SEQUENCE_LOCATE_RECORD("%[units]")
        "str xzr, [x10, 16]\n"
        "orr x17, %[context], x15, lsr 32\n"
        "mov w15, w15\n"
        "orr x15, x15, %[head]\n"
        "stp x15, x17, [x12], 16\n"
        "subs x13, %[units], 2\n"
        "b.eq 3f\n"
        "mov x14, %[payload]\n"
        "2:\n"
        "ldr x15, [x14], 8\n"
        "str x15, [x12], 8\n"
        "subs x13, x13, 1\n"
        "b.ne 2b\n"
        "3:\n"
        "lsr x13, x11, " EVENTLOG_GENERATION_TEXT "\n"
        "ldr x14, " EVENTLOG_MEMBER(slot, buffer_mask) "\n"
        "and x13, x13, x14\n"
        "add x12, x10, x13, lsl 5\n"
        "ldr x15, [x12, %c[descriptors]]\n"
        EVENTLOG_SEQUENCE_COMMIT("%[units]")
        "72:\n"
        EVENTLOG_SEQUENCE_EXITS
        EVENTLOG_SEQUENCE_START
        "ldr w13, [%[area], 4]\n"
        "cmp w13, w9\n"
        "b.ne 73f\n"
        "ldr x13, " EVENTLOG_MEMBER(slot, mapping) "\n"
        "cmp x13, %[mapping]\n"
        "b.ne 73f\n"
        "ldr x13, [x10]\n"
        "cmp x13, x11\n"
        "b.ne 73f\n"
        "ldr x13, [x12, %c[descriptors]]\n"
        "cmp x13, x15\n"
        "b.ne 73f\n"
        "str x17, [x10, 16]\n"
        EVENTLOG_SEQUENCE_END
        EVENTLOG_SEQUENCE_ABORT_EXIT("skipped")
        :
        : EVENTLOG_SLOT_OPERANDS(fast_cpus), [head] "r"(head), [context] "r"(context),
          [units] "r"(units), [payload] "r"(payload), [descriptors] "i"(sizeof(eventlog_ring))
        : "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "memory", "cc"
        : aborted, changed, stale, elsewhere, skipped);
    EVENTLOG_SEQUENCE_RESULTS
skipped:
    return rseq_result::done;
    // clang-format on
}

// Start of the steps below, which require that the thread is on the CPU of the target; else
// aborted. x10 = ring.
// clang-format off
#define SEQUENCE_AT_TARGET                               \
    EVENTLOG_SEQUENCE_START                             \
    "ldr w13, " EVENTLOG_MEMBER(place, cpu) "\n"        \
    "ldr w14, [%[area], 4]\n"                           \
    "cmp w13, w14\n"                                    \
    "b.ne 73f\n"                                        \
    "ldr x13, " EVENTLOG_MEMBER(place, slot_mapping) "\n" \
    "ldr x13, [x13]\n"                                  \
    "ldr x14, " EVENTLOG_MEMBER(place, mapping) "\n"     \
    "cmp x13, x14\n"                                    \
    "b.ne 75f\n"                                        \
    "ldr x10, " EVENTLOG_MEMBER(place, ring) "\n"

// Requires that the control word is the expected one, which is in that register; else changed.
#define EXPECT_CONTROL(expected)                        \
    "ldr x13, [x10]\n"                                  \
    "cmp x13, " expected "\n"                           \
    "b.ne 74f\n"

#define TARGET_OPERANDS [area] "r"(EVENTLOG_THREAD_AREA), [place] "r"(&place), EVENTLOG_TARGET_MEMBERS

rseq_result rseq_switch_buffers(const rseq_target& place, const rseq_switch& step) noexcept {
    // The control word holds only the low bits of the generation; the descriptor confirms the rest.
    asm goto(
        SEQUENCE_AT_TARGET
        "ldr x11, " EVENTLOG_MEMBER(step, expected) "\n"
        EXPECT_CONTROL("x11")
        "ldr x12, " EVENTLOG_MEMBER(step, current) "\n"
        "ldr x11, " EVENTLOG_MEMBER(step, generation) "\n"
        "ldr x13, [x12]\n"
        "cmp x13, x11\n"
        "b.ne 74f\n"
        "ldr x13, " EVENTLOG_MEMBER(step, sealed) "\n"
        "str x13, [x12, 24]\n"
        "ldr x12, " EVENTLOG_MEMBER(step, next) "\n"
        "add x11, x11, 1\n"
        "str x11, [x12]\n"
        // In overwrite mode a consumer may be reading the buffer. The barrier makes the new
        // generation visible before any of the following stores, here or into the buffer.
        "dmb ish\n"
        "ldr x13, " EVENTLOG_MEMBER(step, records_before) "\n"
        "ldr x14, [x10, 8]\n"
        "stp x13, x14, [x12, 8]\n"
        "str xzr, [x12, 24]\n"
        "str xzr, [x10, 16]\n"  // a buffer begins without a context
        "ldr x13, " EVENTLOG_MEMBER(step, control) "\n"
        "stlr x13, [x10]\n"
        EVENTLOG_SEQUENCE_END
        EVENTLOG_SEQUENCE_EXITS
        :
        : TARGET_OPERANDS, [step] "r"(&step),
          EVENTLOG_SWITCH_MEMBERS
        : "x10", "x11", "x12", "x13", "x14", "x16", "memory", "cc"
        : aborted, changed, stale, elsewhere);
    EVENTLOG_SEQUENCE_RESULTS
}

rseq_result rseq_seal(const rseq_target& place, std::uint64_t expected, eventlog_buffer* current,
                      std::uint64_t control) noexcept {
    asm goto(
        SEQUENCE_AT_TARGET
        EXPECT_CONTROL("%[expected]")
        "str x13, [%[current], 24]\n"
        "stlr %[control], [x10]\n"
        EVENTLOG_SEQUENCE_END
        EVENTLOG_SEQUENCE_EXITS
        :
        : TARGET_OPERANDS, [expected] "r"(expected), [current] "r"(current),
          [control] "r"(control)
        : "x10", "x13", "x14", "x16", "memory", "cc"
        : aborted, changed, stale, elsewhere);
    EVENTLOG_SEQUENCE_RESULTS
}

rseq_result rseq_count_lost(const rseq_target& place, std::uint64_t expected) noexcept {
    // A plain counter: readers load it behind the control word.
    asm goto(
        SEQUENCE_AT_TARGET
        EXPECT_CONTROL("%[expected]")
        "ldr x13, [x10, 8]\n"
        "add x13, x13, 1\n"
        "str x13, [x10, 8]\n"
        EVENTLOG_SEQUENCE_END
        EVENTLOG_SEQUENCE_EXITS
        :
        : TARGET_OPERANDS, [expected] "r"(expected)
        : "x10", "x13", "x14", "x16", "memory", "cc"
        : aborted, changed, stale, elsewhere);
    EVENTLOG_SEQUENCE_RESULTS
}
// clang-format on

}  // namespace eventlog::core

#endif
