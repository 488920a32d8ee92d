// SPDX-License-Identifier: MIT
//
// How the machine's counter has gone beside CLOCK_MONOTONIC, as far as both were read together.
#pragma once

#include <cstdint>

#include <eventlog/abi.h>

#include "ring/clock.hpp"

namespace eventlog::core {

/// A straight line through what both clocks said at an instant.
struct tsc_line {
    std::int64_t monotonic = 0;
    std::uint64_t counter = 0;
    double rate = 1.0;  // ticks of the counter in a nanosecond
};

struct tsc_calibration {
    tsc_line recent;  // through the last reading, by the rate since the one before
    // Through the first reading, by the rate since then. By the last rate times far away would go
    // to and fro with each reading.
    tsc_line long_term;
    double rejected_rate = 0;  // the rate between the last two readings, if it was not believed
};

/// For so long, in nanoseconds, the clocks have to go on from one reading to the next: less says
/// little of their rate.
inline constexpr std::int64_t calibration_step = 10'000'000;

/// Ticks in a nanosecond; 0 if not both clocks have gone on.
[[nodiscard]] double rate_between(const eventlog_clock_sample& early,
                                  const eventlog_clock_sample& late) noexcept;

/// Beyond a thousandth the machine slept during one of both, and only one of its clocks stood
/// still, or the reading of a pair was held up in the middle.
[[nodiscard]] bool is_same_rate(double one, double other) noexcept;

/// A course through its first reading.
[[nodiscard]] tsc_calibration calibration_from(const eventlog_clock_sample& pair,
                                               double rate) noexcept;

/// Takes another reading, if it is late enough. A rate that differs much from the one before is
/// believed when the next one is the same.
void update_calibration(tsc_calibration& calibration, const eventlog_clock_sample& pair) noexcept;

/// What the counter says at a time of CLOCK_MONOTONIC; at least 1.
[[nodiscard]] std::uint64_t tsc_at(const tsc_calibration& calibration, std::int64_t time) noexcept;

}  // namespace eventlog::core
