// SPDX-License-Identifier: MIT
//
// The sequences of rseq_append.hpp on x86-64. Included by that file.
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
        // First: processors overlap the following instructions with reading the clock, but not all
        // of them start the read before earlier instructions are done.
        "rdtsc\n"
        "orq %[context], %%rdx\n"
        "movq %%rax, %%xmm1\n"
        "movq %%rdx, %%xmm2\n"
        EVENTLOG_SEQUENCE_LOCATE_RECORD("%[units]")
        "movq %%xmm2, %%rax\n"
        "cmpq %%rax, 16(%%r8)\n"
        "jne 78f\n"
        "movq %%xmm1, %%rax\n"
        "orq %[head], %%rax\n"
        "movq %%rax, (%%r9)\n"
        "prefetchw %c[ahead](%%r9)\n"
        // From the last word to the first: the odd one, then two at a time.
        "movq %[units], %%rdx\n"
        "subq $1, %%rdx\n"
        "jz 3f\n"
        "testb $1, %%dl\n"
        "jz 2f\n"
        "movq -8(%[payload], %%rdx, 8), %%rax\n"
        "movq %%rax, (%%r9, %%rdx, 8)\n"
        "decq %%rdx\n"
        "jz 3f\n"
        "2:\n"
        "movups -16(%[payload], %%rdx, 8), %%xmm0\n"
        "movups %%xmm0, -8(%%r9, %%rdx, 8)\n"
        "subq $2, %%rdx\n"
        "ja 2b\n"
        "3:\n"
        "leaq %c[one_record](%[units]), %%rax\n"
        "addq %%rax, (%%r8)\n"
        "72:\n"
        EVENTLOG_SEQUENCE_CONTEXT_EXITS
        "movq (%[gate]), %%rdx\n"
        EVENTLOG_SEQUENCE_START
        "cmpl %%ecx, %%fs:4(%[area])\n"
        "jne 73f\n"
        "imull " EVENTLOG_MEMBER(slot, counter_stride) ", %%ecx\n"
        "incq %c[words](%%rdx, %%rcx)\n"
        EVENTLOG_SEQUENCE_END
        EVENTLOG_SEQUENCE_ABORT_EXIT("uncounted")
        :
        : EVENTLOG_SLOT_OPERANDS(fast_cpus), [head] "r"(head), [context] "r"(context),
          [ahead] "i"(Ahead), [units] "r"(units), [payload] "r"(payload),
          [one_record] "i"(1U << EVENTLOG_COUNT_SHIFT), [gate] "r"(&gate),
          [slot_counter_stride] "i"(offsetof(subscription_slot, counter_stride)),
          [words] "i"(EVENTLOG_GATE_SIZE + offsetof(eventlog_counters_page, written_by_cpu))
        : "rax", "rcx", "rdx", "r8", "r9", "xmm0", "xmm1", "xmm2", "memory", "cc"
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
        // First, as in rseq_append_block.
        "rdtsc\n"
        "orq %[context], %%rdx\n"
        "movq %%rax, %%xmm1\n"
        "movq %%rdx, %%xmm2\n"
        EVENTLOG_SEQUENCE_LOCATE_RECORD("%[units]")
        "movq %[head], %%rax\n"
        "movl %%eax, 16(%%r9)\n"  // size and flags
        "movl %%ecx, 20(%%r9)\n"
        "shrq $32, %%rax\n"
        "shlq $32, %%rax\n"
        "movq %%xmm1, %%rdx\n"
        "orq %%rdx, %%rax\n"
        "movq %%rax, (%%r9)\n"
        "movq %%xmm2, 8(%%r9)\n"
        "prefetchw %c[ahead](%%r9)\n"
        "movq %[units], %%rdx\n"
        "subq $3, %%rdx\n"
        "jz 3f\n"
        "testb $1, %%dl\n"
        "jz 2f\n"
        "movq -8(%[payload], %%rdx, 8), %%rax\n"
        "movq %%rax, 16(%%r9, %%rdx, 8)\n"
        "decq %%rdx\n"
        "jz 3f\n"
        "2:\n"
        "movups -16(%[payload], %%rdx, 8), %%xmm0\n"
        "movups %%xmm0, 8(%%r9, %%rdx, 8)\n"
        "subq $2, %%rdx\n"
        "ja 2b\n"
        "3:\n"
        "leaq %c[one_record](%[units]), %%rax\n"
        "addq %%rax, (%%r8)\n"
        "72:\n"
        EVENTLOG_SEQUENCE_EXITS
        "movq (%[gate]), %%rdx\n"
        EVENTLOG_SEQUENCE_START
        "cmpl %%ecx, %%fs:4(%[area])\n"
        "jne 73f\n"
        "imull " EVENTLOG_MEMBER(slot, counter_stride) ", %%ecx\n"
        "incq %c[words](%%rdx, %%rcx)\n"
        EVENTLOG_SEQUENCE_END
        EVENTLOG_SEQUENCE_ABORT_EXIT("uncounted")
        :
        : EVENTLOG_SLOT_OPERANDS(fast_cpus), [head] "r"(head), [context] "r"(context),
          [ahead] "i"(Ahead), [units] "r"(units), [payload] "r"(payload),
          [one_record] "i"(1U << EVENTLOG_COUNT_SHIFT), [gate] "r"(&gate),
          [slot_counter_stride] "i"(offsetof(subscription_slot, counter_stride)),
          [words] "i"(EVENTLOG_GATE_SIZE + offsetof(eventlog_counters_page, written_by_cpu))
        : "rax", "rcx", "rdx", "r8", "r9", "xmm0", "xmm1", "xmm2", "memory", "cc"
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
        "movl %%fs:4(%[area]), %%ecx\n"
        "cmpl %[cpus], %%ecx\n"
        "jae 73f\n"
        "imull %[stride], %%ecx\n"
        "incq %c[words](%[counters], %%rcx)\n"
        EVENTLOG_SEQUENCE_END
        EVENTLOG_SEQUENCE_ABORT_EXIT("aborted")
        :
        : [area] "r"(rseq_area), [counters] "r"(&counters),
          [cpus] "m"(process_counter_layout.cpus), [stride] "m"(process_counter_layout.stride),
          [words] "i"(offsetof(eventlog_counters_page, written_by_cpu))
        : "rax", "rcx", "memory", "cc"
        : aborted);
    // clang-format on
    return true;
aborted:
    return false;
}

}  // namespace eventlog::core
