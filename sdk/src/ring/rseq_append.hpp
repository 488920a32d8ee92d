// SPDX-License-Identifier: MIT
//
// The sequence that nearly every event goes through: payload in one place, the processor's clock.
// Every instruction in it is paid for by every event. And the one that counts the others.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>

#include "ring/gate_pages.hpp"
#include "ring/rseq.hpp"
#include "ring/rseq_sequence.hpp"
#include "ring/subscription_slots.hpp"

namespace eventlog::core {

/// Appends a record to the ring of the CPU it runs on, and counts it in the provider's counters
/// behind the gate, in a sequence of its own. `head` and `thread` are bytes 0-7 and 16-19 of the
/// record, `units` its length; (units - 3) * 8 bytes of payload are read.
///
/// CPUs below fast_cpus have a word among the counters, too. What stands `Ahead` bytes further on
/// is fetched meanwhile: the reader's CPU may have that line, and getting it back takes long.
template <int Ahead>
[[gnu::always_inline, nodiscard]] inline rseq_result rseq_append_block(
    const subscription_slot& slot, std::uint64_t serial, std::uint64_t head, std::uint32_t thread,
    std::uint64_t units, const void* payload, const std::atomic<std::uint32_t*>& gate) noexcept;

/// Adds one to this CPU's word of the counters. False, and nothing has happened, if the sequence
/// was interrupted, or this thread has no sequences, or this CPU no word.
[[gnu::always_inline, nodiscard]] inline bool count_on_cpu(
    eventlog_counters_page& counters) noexcept;

}  // namespace eventlog::core

#if !EVENTLOG_HAS_SEQUENCES

template <int Ahead>
inline eventlog::core::rseq_result eventlog::core::rseq_append_block(
    const subscription_slot&, std::uint64_t, std::uint64_t, std::uint32_t, std::uint64_t,
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
