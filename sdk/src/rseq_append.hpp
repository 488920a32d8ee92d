// SPDX-License-Identifier: MIT
//
// The sequence that nearly every event goes through: payload in one place, the processor's clock.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>

#include "rseq.hpp"
#include "rseq_sequence.hpp"
#include "subscription_slots.hpp"

namespace eventlog::core {

/// Appends a record to the ring of the CPU it runs on. `head` and `thread` are bytes 0-7 and 16-19
/// of the record, `units` its length; (units - 3) * 8 bytes of payload are read.
[[gnu::always_inline, nodiscard]] inline rseq_result rseq_append_block(
    [[maybe_unused]] const subscription_slot& slot, [[maybe_unused]] std::uint64_t serial,
    [[maybe_unused]] std::uint64_t head, [[maybe_unused]] std::uint64_t thread,
    [[maybe_unused]] std::uint64_t units, [[maybe_unused]] const void* payload) noexcept {
#if EVENTLOG_HAS_SEQUENCES
    // clang-format off
    asm goto(
        EVENTLOG_SEQUENCE_START
        EVENTLOG_SEQUENCE_FIND_PLACE(EVENTLOG_MEMBER(slot, fast_cpus), "%[units]")
        "movq %[head], (%%rdi)\n"
        // Some records on: the reader's CPU may have that line, and fetching it back takes long.
        "prefetchw 2048(%%rdi)\n"
        "shlq $32, %%rcx\n"
        "orq %[thread], %%rcx\n"
        "movq %%rcx, 16(%%rdi)\n"
        EVENTLOG_SEQUENCE_READ_TSC
        "movq %%rax, 8(%%rdi)\n"
        // Two words at a time, then the odd one: never a byte behind the record.
        "xorl %%edx, %%edx\n"
        "movq %[units], %%rcx\n"
        "subq $5, %%rcx\n"
        "jb 2f\n"
        "1:\n"
        "movups (%[payload], %%rdx), %%xmm0\n"
        "movups %%xmm0, 24(%%rdi, %%rdx)\n"
        "addq $16, %%rdx\n"
        "subq $2, %%rcx\n"
        "jae 1b\n"
        "2:\n"
        "testb $1, %%cl\n"
        "jz 3f\n"
        "movq (%[payload], %%rdx), %%rax\n"
        "movq %%rax, 24(%%rdi, %%rdx)\n"
        "3:\n"
        "leaq %c[one_record](%[units]), %%rax\n"
        "addq %%rax, (%%r8)\n"
        EVENTLOG_SEQUENCE_END
        EVENTLOG_SEQUENCE_WAYS_OUT
        :
        : EVENTLOG_SLOT_OPERANDS, [head] "r"(head), [thread] "r"(thread), [units] "r"(units),
          [payload] "r"(payload), [one_record] "i"(1U << EVENTLOG_COUNT_SHIFT)
        : "rax", "rcx", "rdx", "rdi", "r8", "xmm0", "memory", "cc"
        : aborted, changed, stale, elsewhere);
    EVENTLOG_SEQUENCE_RESULTS
    // clang-format on
#else
    return rseq_result::elsewhere;
#endif
}

}  // namespace eventlog::core
