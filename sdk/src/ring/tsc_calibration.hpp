// SPDX-License-Identifier: MIT
//
// The relation of the processor's counter to CLOCK_MONOTONIC, from samples of both.
#pragma once

#include <cstdint>

#include <eventlog/abi.h>

#include "ring/clock.hpp"

namespace eventlog::core {

/// A straight line through a sample of both clocks.
struct tsc_line {
    std::int64_t monotonic = 0;
    std::uint64_t counter = 0;
    double rate = 1.0;  // ticks per nanosecond
};

struct tsc_calibration {
    tsc_line recent;  // through the last sample, with the rate since the previous one
    // Through the first sample, with the rate since then. With the last rate, distant times would
    // jump at each sample.
    tsc_line long_term;
    double rejected_rate = 0;  // the rate between the last two samples if it was rejected, else 0
};

/// Minimum distance of two samples in nanoseconds: shorter ones give no useful rate.
inline constexpr std::int64_t calibration_step = 10'000'000;

/// Ticks per nanosecond; 0 if one of the clocks has not advanced.
[[nodiscard]] double rate_between(const eventlog_clock_sample& early,
                                  const eventlog_clock_sample& late) noexcept;

/// Whether two rates differ by less than a thousandth. A larger difference means that the machine
/// was suspended while only one clock stopped, or that a sample was interrupted.
[[nodiscard]] bool is_same_rate(double one, double other) noexcept;

/// A calibration from its first sample.
[[nodiscard]] tsc_calibration calibration_from(const eventlog_clock_sample& pair,
                                               double rate) noexcept;

/// Adds a sample if calibration_step has passed. A strongly different rate is accepted only if the
/// next sample confirms it.
void update_calibration(tsc_calibration& calibration, const eventlog_clock_sample& pair) noexcept;

/// The counter's value at a time of CLOCK_MONOTONIC; at least 1.
[[nodiscard]] std::uint64_t tsc_at(const tsc_calibration& calibration, std::int64_t time) noexcept;

}  // namespace eventlog::core
