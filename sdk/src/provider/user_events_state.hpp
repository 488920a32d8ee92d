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
#include "provider/user_events_page.hpp"

namespace eventlog::core {

struct user_events_route {
    static constexpr std::uint64_t never = UINT64_MAX;
    static constexpr std::uint32_t not_registered = 0;
    static constexpr std::uint32_t not_registrable = UINT32_MAX;  // it will not be, either

    /// -1: none.
    std::atomic<int> file{-1};
    /// What the descriptor is, as fstat tells; set before it.
    std::atomic<std::uint64_t> device{0};
    std::atomic<std::uint64_t> inode{0};
    /// When that was compared last, in ticks().
    std::atomic<std::uint64_t> verified_at{0};
    /// Coarse monotonic nanoseconds before which what failed is not tried again.
    std::atomic<std::uint64_t> not_before{never};
    /// The same for poll(), which also asks whether there is what a kernel hardly ever has.
    std::atomic<std::uint64_t> not_polled_before{never};
    /// Whether a write may hold many events, each with its time.
    std::atomic<bool> takes_batches{false};
    /// Goes on when the descriptor becomes another one, or numbers may mean other events.
    std::atomic<std::uint32_t> generation{0};
    /// How many providers have left this place.
    std::atomic<std::uint32_t> withdrawals{0};
    /// Whether the kernel may have set bits: an event that cannot be written then is lost.
    std::atomic<bool> expected{false};
    /// For each event, what the kernel calls it and 1.
    std::array<std::atomic<std::uint32_t>, EVENTLOG_EVENTS_MAX> numbers{};

    /// For each event, where the kernel's page says who listens; 0: the gate's bit does.
    std::array<std::atomic<std::uint32_t>, EVENTLOG_EVENTS_MAX> status_locations{};

    // The rest under the registry's lock.
    int retired = -1;              // a descriptor to close when no thread writes any more
    bool has_status_page = false;  // there are no words: user_events before Linux 6.4
    bool is_module = false;        // it is eventlog's own module, not user_events
    std::uint32_t published = 0;   // what the module calls the provider for who subscribes; 0: not
    std::uint32_t published_events = 0;  // how many of its events it has then
    bool is_in_eventlog_system = false;  // user_events, whose events are in the system eventlog
    eventlog_status_code status = EVENTLOG_UNREGISTERED;
    error_text status_text{};

    [[nodiscard]] std::uint8_t bit() const noexcept {
        return is_module ? EVENTLOG_GATE_DEVICE_BIT : EVENTLOG_GATE_USER_EVENTS_BIT;
    }
};

/// The bits of a gate's word of which either says that somebody listens through the kernel.
inline constexpr std::uint32_t kernel_bits =
    1U << EVENTLOG_GATE_USER_EVENTS_BIT | 1U << EVENTLOG_GATE_DEVICE_BIT;

/// Whether somebody listens to the event, whose gate word has the bit.
[[nodiscard]] inline bool has_kernel_listener(const user_events_route& route,
                                              std::uint32_t event) noexcept {
    const std::uint32_t place = route.status_locations[event].load(std::memory_order_relaxed);
    return place == 0 || is_set_in_page(place);
}

}  // namespace eventlog::core
