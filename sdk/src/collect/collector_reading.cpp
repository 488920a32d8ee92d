// SPDX-License-Identifier: MIT
//
// Reads events from a collector.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <string_view>

#include <eventlog/collector.h>
#include <eventlog/timed_scope.h>

#include "collect/collector_state.hpp"
#include "platform/signal_guard.hpp"
#include "platform/time_namespace.hpp"
#include "ring/clock.hpp"
#include "ring/tsc_calibration.hpp"

namespace eventlog::core {
namespace {

// A thread that waits looks at intervals that double up to the longest: an emit wakes it only when
// a buffer is full, because anything more would cost each event.
constexpr std::int64_t first_pause = 50'000;
constexpr std::int64_t longest_pause = 5'000'000;

// A sample of the clocks is used that long.
constexpr std::uint64_t sample_lifetime = 100'000'000;

eventlog_provider_entry& entry_at(const eventlog_collector& collector,
                                  std::uint32_t index) noexcept {
    return reinterpret_cast<eventlog_provider_entry*>(
        reinterpret_cast<unsigned char*>(collector.region) +
        collector.geometry.providers_offset)[index];
}

/// The provider whose events have the number of the record: the ready one with the greatest base
/// that is not above. EVENTLOG_PROVIDERS_MAX if there is none.
std::uint32_t provider_of(const eventlog_collector& collector, const ring_record& record) noexcept {
    const std::uint32_t count = std::min<std::uint32_t>(
        shared(collector.region->provider_count).load(std::memory_order_acquire),
        EVENTLOG_PROVIDERS_MAX);
    const auto is_ready = [&](std::uint32_t index) {
        return shared(entry_at(collector, index).state).load(std::memory_order_acquire) ==
               EVENTLOG_PROVIDER_READY;
    };
    // Entries are added one after the other, with increasing bases; some may not be ready.
    std::uint32_t found = EVENTLOG_PROVIDERS_MAX;
    std::uint32_t begin = 0;
    std::uint32_t end = count;
    while (begin < end) {
        const std::uint32_t middle = begin + (end - begin) / 2;
        std::uint32_t at = middle;
        while (at < end && !is_ready(at)) {
            ++at;
        }
        if (at < end && entry_at(collector, at).event_base <= record.number) {
            found = at;
            begin = at + 1;
        } else {
            end = middle;
        }
    }
    return found;
}

std::span<const std::uint8_t> schema_of(const eventlog_collector& collector,
                                        const eventlog_provider_entry& entry) noexcept {
    return {reinterpret_cast<const std::uint8_t*>(collector.region) + entry.schema_offset,
            entry.schema_size};
}

template <std::size_t Size>
void store_name(std::array<char, Size>& to, std::string_view name) noexcept {
    to = {};
    std::memcpy(to.data(), name.data(), std::min(name.size(), Size - 1));
}

/// Finds provider and event of the record and their names. False if there are none.
bool find_names(eventlog_collector& collector, const ring_record& record) noexcept {
    if (collector.named_number == record.number) {
        return true;
    }
    const std::uint32_t provider = provider_of(collector, record);
    if (provider == EVENTLOG_PROVIDERS_MAX) {
        return false;
    }
    const eventlog_provider_entry& entry = entry_at(collector, provider);
    collected_provider& known = collector.providers[provider];
    if (!known.is_open) {
        new (&known) collected_provider;
        error_text ignored;
        known.is_open = known.schema.open(schema_of(collector, entry), ignored);
    }
    schema_reader schema = known.schema;
    event_description event;
    do {
        if (!known.is_open || !schema.next_event(event)) {
            return false;
        }
    } while (event.id != record.number - entry.event_base);
    store_name(collector.names.provider, schema.provider());
    store_name(collector.names.event, event.name);
    collector.named_number = record.number;
    collector.named_provider = provider;
    return true;
}

/// Measures the rate from the collector's beginning to now, so that times before now lie between
/// two samples.
void renew_sample(eventlog_collector& collector) noexcept {
    const eventlog_clock_sample now = read_clock_sample(collector.region->clock);
    const double rate = rate_between(collector.region->clock_start, now);
    collector.sample = now;
    collector.rate = rate > 0 ? rate : collector.rate;
}

/// CLOCK_MONOTONIC at a time of the region's clock. Times of the region's own clock never decrease,
/// although a new sample changes the rate a little.
std::uint64_t monotonic_of(eventlog_collector& collector, const ring_record& record) noexcept {
    if (collector.region->clock == EVENTLOG_CLOCK_MONOTONIC) {
        return record.time;
    }
    if (record.time > collector.sample.clock ||
        coarse_monotonic_now() > collector.sample.monotonic + sample_lifetime) {
        renew_sample(collector);
    }
    const auto distance = static_cast<std::int64_t>(record.time - collector.sample.clock);
    // A clock of the program may be anywhere.
    const double limit = 9.2e18;
    const auto nanoseconds = static_cast<std::int64_t>(
        std::clamp(static_cast<double>(distance) / collector.rate, -limit, limit));
    const std::uint64_t time = collector.sample.monotonic + static_cast<std::uint64_t>(nanoseconds);
    if ((record.flags & EVENTLOG_RECORD_CUSTOM_TIME) != 0) {
        return time;
    }
    collector.last_time = std::max(collector.last_time, time);
    return collector.last_time;
}

/// After find_names.
void fill_event(eventlog_collector& collector, const ring_record& record,
                eventlog_collected& event) noexcept {
    const eventlog_provider_entry& entry = entry_at(collector, collector.named_provider);
    event.event = record.number - entry.event_base;
    event.time =
        monotonic_of(collector, record) + static_cast<std::uint64_t>(own_time_offsets().monotonic);
    event.lost_before = collector.rings.lost_before();
    event.payload_size = record.payload.size();
    event.thread = record.thread;
    event.cpu = record.cpu;
    event.is_truncated = (record.flags & EVENTLOG_RECORD_TRUNCATED) != 0;
    std::memcpy(event.provider, collector.names.provider.data(), sizeof event.provider);
    std::memcpy(event.event_name, collector.names.event.data(), sizeof event.event_name);
    const std::span<const std::uint8_t> schema = schema_of(collector, entry);
    event.schema = schema.data();
    event.schema_size = schema.size();
}

eventlog_collector_result try_get(eventlog_collector& collector, eventlog_collected& event,
                                  void* payload, std::size_t size) noexcept {
    while (const ring_record* record = collector.rings.peek()) {
        if (!find_names(collector, *record)) {
            ++collector.unknown;
            collector.rings.pop();
            continue;
        }
        fill_event(collector, *record, event);
        if (record->payload.size() > size) {
            return EVENTLOG_COLLECTOR_TOO_SMALL;
        }
        if (!record->payload.empty()) {
            std::memcpy(payload, record->payload.data(), record->payload.size());
        }
        ++collector.read;
        collector.rings.pop();
        return EVENTLOG_COLLECTOR_EVENT;
    }
    return EVENTLOG_COLLECTOR_EMPTY;
}

/// Sleeps until a buffer has been switched or the time is over.
void pause(eventlog_region& region, std::int64_t nanoseconds) noexcept {
    const std::uint32_t expected = shared(region.wake).load(std::memory_order_acquire);
    shared(region.waiting).store(1, std::memory_order_seq_cst);
    const timespec limit{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    static_cast<void>(::syscall(SYS_futex, &region.wake, FUTEX_WAIT, expected, &limit, nullptr, 0));
    shared(region.waiting).store(0, std::memory_order_relaxed);
}

}  // namespace
}  // namespace eventlog::core

eventlog_collector_result eventlog_collector_get_until(eventlog_collector* collector,
                                                       eventlog_collected* event, void* payload,
                                                       std::size_t payload_size,
                                                       std::int64_t deadline) {
    using namespace eventlog::core;
    if (collector == nullptr || event == nullptr || event->size < sizeof *event ||
        (payload == nullptr && payload_size != 0)) {
        return EVENTLOG_COLLECTOR_INVALID;
    }
    const errno_guard keeps_errno;
    std::int64_t interval = first_pause;
    while (true) {
        const eventlog_collector_result result = try_get(*collector, *event, payload, payload_size);
        if (result != EVENTLOG_COLLECTOR_EMPTY || deadline == INT64_MIN) {
            return result;
        }
        const std::int64_t now = eventlog_monotonic_time();
        if (now >= deadline) {
            return result;
        }
        pause(*collector->region, std::min(interval, deadline - now));
        interval = std::min(2 * interval, longest_pause);
    }
}

eventlog_collector_result eventlog_collector_try_get(eventlog_collector* collector,
                                                     eventlog_collected* event, void* payload,
                                                     std::size_t payload_size) {
    return eventlog_collector_get_until(collector, event, payload, payload_size, INT64_MIN);
}

eventlog_collector_result eventlog_collector_get(eventlog_collector* collector,
                                                 eventlog_collected* event, void* payload,
                                                 std::size_t payload_size) {
    return eventlog_collector_get_until(collector, event, payload, payload_size, INT64_MAX);
}
