// SPDX-License-Identifier: MIT
//
// The state of a provider's route through the kernel; user_events_route.hpp describes the route.
#pragma once

#include <linux/eventlog.h>

#include <array>
#include <atomic>
#include <cstdint>

#include <eventlog/abi.h>

#include "platform/error_text.hpp"
#include "provider/event_values.hpp"
#include "provider/user_events_page.hpp"

namespace eventlog::core {

/// Events that the kernel has not registered.
struct missing_events {
    std::uint32_t count = 0;
    std::uint32_t first = 0;  // the id of the first one
    error_text why;           // the reason of its failure, without a full stop
};

struct user_events_route {
    static constexpr std::uint64_t never = UINT64_MAX;
    static constexpr std::uint32_t not_registered = 0;
    static constexpr std::uint32_t not_registrable = UINT32_MAX;  // failed permanently

    /// Whether a value of `numbers` is an event's number.
    [[nodiscard]] static constexpr bool is_registered(std::uint32_t number) noexcept {
        return number != not_registered && number != not_registrable;
    }

    /// Neither emits nor run_callbacks() retry.
    void stop_retries() noexcept {
        not_before.store(never, std::memory_order_relaxed);
        not_polled_before.store(never, std::memory_order_relaxed);
    }

    /// The descriptor; -1: none.
    std::atomic<int> file{-1};
    /// The identity of the descriptor's file as returned by fstat; stored before `file`.
    std::atomic<std::uint64_t> device{0};
    std::atomic<std::uint64_t> inode{0};
    /// Time of the last check of that identity, in ticks().
    std::atomic<std::uint64_t> verified_at{0};
    /// Coarse monotonic nanoseconds before which an emit does not retry.
    std::atomic<std::uint64_t> not_before{never};
    /// The same for run_callbacks(), which also looks for a module or mount that kernels rarely
    /// have.
    std::atomic<std::uint64_t> not_polled_before{never};
    /// Whether a write may contain many events with times.
    std::atomic<bool> takes_batches{false};
    /// Incremented when the descriptor changes, or numbers may mean other events.
    std::atomic<std::uint32_t> generation{0};
    /// The number of providers withdrawn from this handle.
    std::atomic<std::uint32_t> withdrawals{0};
    /// Whether the kernel may have set bits, so that an event that cannot be written is lost.
    std::atomic<bool> expected{false};
    /// For each event, the kernel's number plus 1.
    event_values<std::uint32_t> numbers;

    /// For each event, its location in the kernel's page; 0: the gate's bit is used.
    event_values<std::uint32_t> status_locations;

    /// The module's number of the published provider; 0: none. Stored under the registry lock.
    std::atomic<std::uint32_t> published{0};

    // The members below are under the registry lock.
    /// Descriptors to close when they have no writers: the one that a forked child has inherited,
    /// and the last one.
    std::array<int, 2> retired{-1, -1};
    bool has_status_page = false;        // no enable words: user_events before Linux 6.4
    bool is_module = false;              // /dev/eventlog instead of user_events
    std::uint32_t published_events = 0;  // the number of its published events
    bool is_in_eventlog_system = false;  // user_events with events in the system eventlog
    eventlog_status_code status = EVENTLOG_STATUS_UNREGISTERED;
    error_text status_text;
    missing_events missing;  // if there are any, the status is about them

    [[nodiscard]] std::uint8_t bit() const noexcept {
        return is_module ? EVENTLOG_GATE_DEVICE_BIT : EVENTLOG_GATE_USER_EVENTS_BIT;
    }
};

/// The bits of a gate word that mean a listener through the kernel.
inline constexpr std::uint32_t kernel_bits =
    1U << EVENTLOG_GATE_USER_EVENTS_BIT | 1U << EVENTLOG_GATE_DEVICE_BIT;

/// Whether an event whose gate word has the user_events bit has a listener.
[[nodiscard]] inline bool has_kernel_listener(const user_events_route& route,
                                              std::uint32_t event) noexcept {
    const std::uint32_t place = route.status_locations.load(event);
    return place == 0 || is_set_in_page(place);
}

}  // namespace eventlog::core
