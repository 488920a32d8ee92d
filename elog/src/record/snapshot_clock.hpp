// SPDX-License-Identifier: MIT
//
// Computes the start reading of a flight recorder from the present clocks. A flight recorder has no
// process that reads the clocks while it runs.
#pragma once

#include <linux/eventlog.h>

namespace elog {

/// The reading at the subscription's start, if its clocks had always run as they do now. The
/// machine may have slept since, or its wall clock may have been set; the newest records must have
/// exact times. `now` and `later` are readings of the same clocks, some milliseconds apart. The
/// result is not later than `now`.
[[nodiscard]] eventlog_clock_sample extrapolate_start_reading(
    const eventlog_region& header, const eventlog_clock_sample& now,
    const eventlog_clock_sample& later) noexcept;

/// The same, with readings that it takes itself. Blocks for 20 ms if the clock counts ticks.
[[nodiscard]] eventlog_clock_sample extrapolate_start_reading(const eventlog_region& header);

}  // namespace elog
