// SPDX-License-Identifier: MIT
//
// Counters of a provider's events, for its own process and for `elog list --stats`. They are in the
// process's file behind the gate words, in the pages mapped over the provider's gate.
//
// Counting written events adds to the cost of every event. So each CPU has its own word,
// incremented inside a restartable sequence behind the one that commits the record: no lock prefix,
// no cache line moving between CPUs. Losses are counted by atomic additions.
#pragma once

#include <linux/eventlog.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "provider/registered_provider.hpp"
#include "ring/gate_layout.hpp"
#include "ring/gate_pages.hpp"
#include "ring/rseq_append.hpp"

namespace eventlog::core {

/// The counters behind the gate words. Readable and writable at any time; counts of an unpublished
/// provider are discarded.
[[nodiscard]] inline eventlog_counters_page& counters_of_gate(std::uint32_t* gate) noexcept {
    return reinterpret_cast<eventlog_counters_page&>(gate[EVENTLOG_EVENTS_MAX]);
}

using route_counter = __u64 eventlog_route_counters::*;

/// Adds to a counter of a route (EVENTLOG_COUNTERS_...).
inline void count(const eventlog_provider& provider, route_counter counter,
                  unsigned route = EVENTLOG_COUNTERS_MEMORY, std::uint64_t many = 1) noexcept {
    eventlog_counters_page& page = counters_of_gate(provider.gate.load(std::memory_order_relaxed));
    std::atomic_ref(page.routes[route].*counter).fetch_add(many, std::memory_order_relaxed);
}

/// Counts an event that was lost because the provider was not attached to the subscription or the
/// collector in that slot. Any thread, any signal handler.
void count_unattached(const eventlog_provider& provider, unsigned slot,
                      std::uint64_t many = 1) noexcept;

/// Counts an event that was written.
[[gnu::always_inline]] inline void count_written(const eventlog_provider& provider) noexcept {
    if (!count_on_cpu(counters_of_gate(provider.gate.load(std::memory_order_relaxed))))
        [[unlikely]] {
        count(provider, &eventlog_route_counters::written);
    }
}

/// The current sums.
[[nodiscard]] eventlog_route_counters sum_counters(eventlog_counters_page& page,
                                                   unsigned route) noexcept;

}  // namespace eventlog::core
