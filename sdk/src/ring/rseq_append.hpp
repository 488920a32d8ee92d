// SPDX-License-Identifier: MIT
//
// The sequences of nearly every event (contiguous payload, the processor's clock), and the sequence
// that counts written events. Each instruction adds to the cost of every event.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ring/gate_layout.hpp"
#include "ring/gate_pages.hpp"
#include "ring/rseq.hpp"
#include "ring/rseq_sequence.hpp"
#include "ring/subscription_slots.hpp"

namespace eventlog::core {

/// Appends a short record to the ring of the current CPU, then counts it in the provider's counters
/// behind the gate, in a second sequence. `head` is short_head, `context` thread_part. If the
/// record's context is not that of the ring, nothing is done. `units` is the length; (units - 1) *
/// 8 bytes of payload are read.
///
/// CPUs below fast_cpus also have a counter word. The cache line `Ahead` bytes further is
/// prefetched: the reader's CPU may own it, and fetching it back takes long.
template <int Ahead>
[[gnu::always_inline, nodiscard]] inline rseq_result rseq_append_block(
    const subscription_slot& slot, std::uint64_t mapping, std::uint64_t head, std::uint64_t context,
    std::uint64_t units, const void* payload, const std::atomic<std::uint32_t*>& gate) noexcept;

/// As rseq_append_block, for payloads of any size: appends an extended record, in any context. The
/// lower half of `head`, which is extended_head, is the size of the payload. (units - 3) * 8 bytes
/// of payload are read.
template <int Ahead>
[[gnu::always_inline, nodiscard]] inline rseq_result rseq_append_extended(
    const subscription_slot& slot, std::uint64_t mapping, std::uint64_t head, std::uint64_t context,
    std::uint64_t units, const void* payload, const std::atomic<std::uint32_t*>& gate) noexcept;

/// Increments this CPU's counter word. False without effect if the sequence was interrupted, the
/// thread has no sequences, or the CPU has no counter word.
[[gnu::always_inline, nodiscard]] inline bool count_on_cpu(
    eventlog_counters_page& counters) noexcept;

}  // namespace eventlog::core

#if !EVENTLOG_HAS_SEQUENCES

template <int Ahead>
inline eventlog::core::rseq_result eventlog::core::rseq_append_block(
    const subscription_slot&, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
    const void*, const std::atomic<std::uint32_t*>&) noexcept {
    return rseq_result::elsewhere;
}

template <int Ahead>
inline eventlog::core::rseq_result eventlog::core::rseq_append_extended(
    const subscription_slot&, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
    const void*, const std::atomic<std::uint32_t*>&) noexcept {
    return rseq_result::elsewhere;
}

inline bool eventlog::core::count_on_cpu(eventlog_counters_page&) noexcept {
    return false;
}

#elif defined(__x86_64__)
#include "ring/x86_64/rseq_append.hpp"
#else
#include "ring/aarch64/rseq_append.hpp"
#endif
