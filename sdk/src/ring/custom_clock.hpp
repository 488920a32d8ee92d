// SPDX-License-Identifier: MIT
//
// A clock of the program's own (eventlog_set_clock), which its events are timed by.
//
// Records keep the unit of the region's clock, so that readers, files and merging need not know of
// it: what the program's clock says becomes the reading of the region's clock that belongs to the
// same time. Emitting pays for none of it while there is no such clock: the shortest ways are
// closed by it, as they are by sessions, and the longer ones look at a bit of the slot's clock.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>

namespace eventlog::core {

/// Beside a region's clock in subscription_slot::clock: events are timed by the program's.
inline constexpr std::uint32_t custom_clock_bit = 1U << 31U;

/// Of records that are timed by a clock as it stands in subscription_slot::clock.
[[nodiscard]] constexpr std::uint16_t flags_of_clock(std::uint32_t clock) noexcept {
    return (clock & custom_clock_bit) != 0 ? EVENTLOG_RECORD_CUSTOM_TIME : 0;
}

/// The nanoseconds between readings of the machine's clocks for clocks that are set from then on.
/// A counter of few bits may need them more often. Tests shorten it.
extern constinit std::int64_t recalibration_interval;

/// Whether the program has set one. Under the registry's lock.
[[nodiscard]] bool has_custom_clock() noexcept;

/// What the region's clock says when it is as late as the program's clock says now; never 0. The
/// region's clock now if the program has taken its own back. Async-signal-safe, if the program's
/// function is.
[[nodiscard]] std::uint64_t read_custom_clock(std::uint32_t region_clock) noexcept;

/// In a forked child: the thread that was reading the machine's clocks does not exist here.
void reset_custom_clock_writer() noexcept;

}  // namespace eventlog::core
