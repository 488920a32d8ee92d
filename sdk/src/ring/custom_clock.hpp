// SPDX-License-Identifier: MIT
//
// A custom clock of the program (eventlog_set_clock), which determines the times of its events.
//
// Records keep the unit of the region's clock, so readers, files and merging do not depend on
// custom clocks: a custom time is converted to the region's clock value of the same instant.
// Programs without a custom clock pay nothing: a custom clock disables the fast paths (as sessions
// do), and the slower paths test one bit of the slot's clock.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>

namespace eventlog::core {

/// Set in subscription_slot::clock beside the region's clock: the custom clock times the events.
inline constexpr std::uint32_t custom_clock_bit = 1U << 31U;

/// The record flags for a value of subscription_slot::clock.
[[nodiscard]] constexpr std::uint16_t flags_of_clock(std::uint32_t clock) noexcept {
    return (clock & custom_clock_bit) != 0 ? EVENTLOG_RECORD_CUSTOM_TIME : 0;
}

/// Nanoseconds between samples of the machine's clocks, for custom clocks set from then on. A
/// counter of few bits may be sampled more often. Tests shorten it.
extern constinit std::int64_t recalibration_interval;

/// Whether the program has set one. Under the registry lock.
[[nodiscard]] bool has_custom_clock() noexcept;

/// The custom clock's current time as a value of the region's clock; never 0. The region's clock
/// itself if the program has removed its custom clock. Async-signal-safe if the program's function
/// is.
[[nodiscard]] std::uint64_t read_custom_clock(std::uint32_t region_clock) noexcept;

/// Called in a forked child, where a recalibrating thread of the parent does not exist.
void reset_custom_clock_writer() noexcept;

}  // namespace eventlog::core
