// SPDX-License-Identifier: MIT
//
// Telling times by the clocks of now, where nobody has read them for long.
#pragma once

#include <linux/eventlog.h>

namespace elog {

/// What a subscription's reading of its beginning would be if its clocks had always run as they do
/// now. Meanwhile the machine may have slept, or its wall clock been set, and what is newest is
/// what matters. `now` and `later` are readings of the same clocks, some milliseconds apart. The
/// result is not later than `now`.
[[nodiscard]] eventlog_clock_sample extrapolate_start_reading(
    const eventlog_region& header, const eventlog_clock_sample& now,
    const eventlog_clock_sample& later) noexcept;

/// The same, with readings that it takes itself, in 20 ms if the clock counts ticks.
[[nodiscard]] eventlog_clock_sample extrapolate_start_reading(const eventlog_region& header);

}  // namespace elog
