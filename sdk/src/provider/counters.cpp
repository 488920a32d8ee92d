// SPDX-License-Identifier: MIT
#include "provider/counters.hpp"

#include <unistd.h>

#include "ring/gate_layout.hpp"
#include "ring/subscription_slots.hpp"

namespace eventlog::core {

static_assert(counter_layout_for(60).stride == 64 && counter_layout_for(60).cpus == 60);
static_assert(counter_layout_for(61).stride == 32 && counter_layout_for(480).stride == 8);
static_assert(counter_layout_for(10'000).cpus == EVENTLOG_CPU_COUNTERS_MAX);

constinit counter_layout process_counter_layout{};

void set_counter_layout() noexcept {
    if (rseq_available()) {
        // Events on CPUs with higher numbers are counted by atomic additions.
        const long cpus = ::sysconf(_SC_NPROCESSORS_CONF);
        process_counter_layout =
            counter_layout_for(cpus > 0 ? static_cast<std::uint64_t>(cpus) : 0);
    }
}

void count_unattached(const eventlog_provider& provider, unsigned slot,
                      std::uint64_t many) noexcept {
    count(provider, &eventlog_route_counters::lost_unattached, EVENTLOG_COUNTERS_MEMORY, many);
    if (is_collector_slot(slot)) {
        subscription_slots[slot].lost_unattached.fetch_add(many, std::memory_order_relaxed);
        return;
    }
    eventlog_counters_page& page = counters_of_gate(provider.gate.load(std::memory_order_relaxed));
    const std::atomic_ref<__u64> word(page.unattached[slot]);
    __u64 known = word.load(std::memory_order_acquire);
    __u64 next = 0;
    do {
        // After the word: if it has events of a later subscription, this is that one's serial.
        const std::uint64_t tag = EVENTLOG_UNATTACHED_TAG(slot_serial(slot));
        // The events of another subscription have been read, or nothing waits for them.
        const __u64 before = known >> EVENTLOG_UNATTACHED_COUNT_BITS == tag
                                 ? known & EVENTLOG_UNATTACHED_COUNT_MASK
                                 : 0;
        const __u64 sum =
            before +
            (many < EVENTLOG_UNATTACHED_COUNT_MASK ? many : EVENTLOG_UNATTACHED_COUNT_MASK);
        next = tag << EVENTLOG_UNATTACHED_COUNT_BITS |
               (sum < EVENTLOG_UNATTACHED_COUNT_MASK ? sum : EVENTLOG_UNATTACHED_COUNT_MASK);
    } while (!word.compare_exchange_weak(known, next, std::memory_order_acq_rel,
                                         std::memory_order_acquire));
}

eventlog_route_counters sum_counters(eventlog_counters_page& page, unsigned route) noexcept {
    const auto value = [](__u64& counter) {
        return std::atomic_ref(counter).load(std::memory_order_relaxed);
    };
    eventlog_route_counters& counters = page.routes[route];
    eventlog_route_counters sums{};
    sums.written = value(counters.written);
    sums.truncated = value(counters.truncated);
    sums.lost_full = value(counters.lost_full);
    sums.lost_too_large = value(counters.lost_too_large);
    sums.lost_busy = value(counters.lost_busy);
    sums.lost_unattached = value(counters.lost_unattached);
    sums.lost_refused = value(counters.lost_refused);
    if (route == EVENTLOG_COUNTERS_MEMORY) {
        for (__u64& word : page.written_by_cpu) {
            sums.written += value(word);
        }
    }
    return sums;
}

}  // namespace eventlog::core
