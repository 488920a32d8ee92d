// SPDX-License-Identifier: MIT
//
// The sequences of rseq_append.hpp on aarch64. Included by that file.
#pragma once

#include "ring/gate_layout.hpp"
#include "ring/gate_pages.hpp"
#include "ring/rseq.hpp"
#include "ring/rseq_sequence.hpp"
#include "ring/subscription_slots.hpp"

namespace eventlog::core {

template <int Ahead>
[[gnu::always_inline, nodiscard]] inline rseq_result rseq_append_block(
    const subscription_slot& slot, std::uint64_t mapping, std::uint64_t head, std::uint64_t context,
    std::uint64_t units, const void* payload, const std::atomic<std::uint32_t*>& gate) noexcept {
    // clang-format off
    asm goto(
        EVENTLOG_SEQUENCE_START
        // First: the barrier then has the least to wait for.
        EVENTLOG_SEQUENCE_READ_CLOCK("x15")
        EVENTLOG_SEQUENCE_LOCATE_RECORD("%[units]")
        "prfm pstl1keep, [x12, %c[ahead]]\n"
        "orr x14, %[context], x15, lsr 32\n"
        "ldr x13, [x10, 16]\n"
        "cmp x13, x14\n"
        "b.ne 78f\n"
        "mov w15, w15\n"
        "orr x15, x15, %[head]\n"
        "str x15, [x12], 8\n"
        // From the last word to the first: the odd one, then two at a time.
        "subs x13, %[units], 1\n"
        "b.eq 3f\n"
        "add x14, %[payload], x13, lsl 3\n"
        "add x12, x12, x13, lsl 3\n"
        "tbz x13, 0, 2f\n"
        "ldr x16, [x14, -8]!\n"
        "str x16, [x12, -8]!\n"
        "subs x13, x13, 1\n"
        "b.eq 3f\n"
        "2:\n"
        "ldp x16, x17, [x14, -16]!\n"
        "stp x16, x17, [x12, -16]!\n"
        "subs x13, x13, 2\n"
        "b.ne 2b\n"
        "3:\n"
        EVENTLOG_SEQUENCE_COMMIT("%[units]")
        "72:\n"
        EVENTLOG_SEQUENCE_CONTEXT_EXITS
        "ldr x13, [%[gate]]\n"
        EVENTLOG_SEQUENCE_START
        "ldr w14, [%[area], 4]\n"
        "cmp w14, w9\n"
        "b.ne 73f\n"
        "ldr w14, " EVENTLOG_MEMBER(slot, counter_stride) "\n"
        "madd x13, x14, x9, x13\n"
        "ldr x14, [x13, %c[words]]\n"
        "add x14, x14, 1\n"
        "str x14, [x13, %c[words]]\n"
        EVENTLOG_SEQUENCE_END
        EVENTLOG_SEQUENCE_ABORT_EXIT("uncounted")
        :
        : EVENTLOG_SLOT_OPERANDS(fast_cpus), [head] "r"(head), [context] "r"(context),
          [ahead] "i"(Ahead), [units] "r"(units), [payload] "r"(payload), [gate] "r"(&gate),
          [slot_counter_stride] "i"(offsetof(subscription_slot, counter_stride)),
          [words] "i"(EVENTLOG_GATE_SIZE + offsetof(eventlog_counters_page, written_by_cpu))
        : "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "memory", "cc"
        : aborted, changed, stale, elsewhere, other_context, uncounted);
    EVENTLOG_SEQUENCE_RESULTS
other_context:
    return rseq_result::other_context;
uncounted:
    return rseq_result::uncounted;
    // clang-format on
}

template <int Ahead>
[[gnu::always_inline, nodiscard]] inline rseq_result rseq_append_extended(
    const subscription_slot& slot, std::uint64_t mapping, std::uint64_t head, std::uint64_t context,
    std::uint64_t units, const void* payload, const std::atomic<std::uint32_t*>& gate) noexcept {
    // clang-format off
    asm goto(
        EVENTLOG_SEQUENCE_START
        EVENTLOG_SEQUENCE_READ_CLOCK("x15")
        EVENTLOG_SEQUENCE_LOCATE_RECORD("%[units]")
        "prfm pstl1keep, [x12, %c[ahead]]\n"
        "orr x14, %[context], x15, lsr 32\n"
        "mov x13, %[head]\n"
        "bfi x13, x15, 0, 32\n"
        "stp x13, x14, [x12]\n"
        "stp %w[head], w9, [x12, 16]\n"
        // As in rseq_append_block.
        "subs x13, %[units], 3\n"
        "b.eq 3f\n"
        "add x14, %[payload], x13, lsl 3\n"
        "add x12, x12, 24\n"
        "add x12, x12, x13, lsl 3\n"
        "tbz x13, 0, 2f\n"
        "ldr x16, [x14, -8]!\n"
        "str x16, [x12, -8]!\n"
        "subs x13, x13, 1\n"
        "b.eq 3f\n"
        "2:\n"
        "ldp x16, x17, [x14, -16]!\n"
        "stp x16, x17, [x12, -16]!\n"
        "subs x13, x13, 2\n"
        "b.ne 2b\n"
        "3:\n"
        EVENTLOG_SEQUENCE_COMMIT("%[units]")
        "72:\n"
        EVENTLOG_SEQUENCE_EXITS
        "ldr x13, [%[gate]]\n"
        EVENTLOG_SEQUENCE_START
        "ldr w14, [%[area], 4]\n"
        "cmp w14, w9\n"
        "b.ne 73f\n"
        "ldr w14, " EVENTLOG_MEMBER(slot, counter_stride) "\n"
        "madd x13, x14, x9, x13\n"
        "ldr x14, [x13, %c[words]]\n"
        "add x14, x14, 1\n"
        "str x14, [x13, %c[words]]\n"
        EVENTLOG_SEQUENCE_END
        EVENTLOG_SEQUENCE_ABORT_EXIT("uncounted")
        :
        : EVENTLOG_SLOT_OPERANDS(fast_cpus), [head] "r"(head), [context] "r"(context),
          [ahead] "i"(Ahead), [units] "r"(units), [payload] "r"(payload), [gate] "r"(&gate),
          [slot_counter_stride] "i"(offsetof(subscription_slot, counter_stride)),
          [words] "i"(EVENTLOG_GATE_SIZE + offsetof(eventlog_counters_page, written_by_cpu))
        : "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "memory", "cc"
        : aborted, changed, stale, elsewhere, uncounted);
    EVENTLOG_SEQUENCE_RESULTS
uncounted:
    return rseq_result::uncounted;
    // clang-format on
}

[[gnu::always_inline, nodiscard]] inline bool count_on_cpu(
    eventlog_counters_page& counters) noexcept {
    // clang-format off
    asm goto(
        EVENTLOG_SEQUENCE_START
        "ldr w9, [%[area], 4]\n"
        "cmp w9, %w[cpus]\n"
        "b.hs 73f\n"
        "madd x9, x9, %[stride], %[counters]\n"
        "ldr x10, [x9, %c[words]]\n"
        "add x10, x10, 1\n"
        "str x10, [x9, %c[words]]\n"
        EVENTLOG_SEQUENCE_END
        EVENTLOG_SEQUENCE_ABORT_EXIT("aborted")
        :
        : [area] "r"(EVENTLOG_THREAD_AREA), [counters] "r"(&counters),
          [cpus] "r"(process_counter_layout.cpus),
          [stride] "r"(std::uint64_t{process_counter_layout.stride}),
          [words] "i"(offsetof(eventlog_counters_page, written_by_cpu))
        : "x9", "x10", "x16", "memory", "cc"
        : aborted);
    // clang-format on
    return true;
aborted:
    return false;
}

}  // namespace eventlog::core
