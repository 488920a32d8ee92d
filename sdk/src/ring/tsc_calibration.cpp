// SPDX-License-Identifier: MIT
#include "ring/tsc_calibration.hpp"

#include <algorithm>
#include <cstdint>

namespace eventlog::core {
namespace {

constexpr double rate_tolerance = 1e-3;
// Up to this distance from the last sample its own rate is used, in nanoseconds.
constexpr std::int64_t recent_span = 1'000'000'000;

tsc_line line_through(const eventlog_clock_sample& pair, double rate) noexcept {
    return {static_cast<std::int64_t>(pair.monotonic), pair.clock, rate};
}

/// The rate from the start of a line to a sample.
double rate_to(const tsc_line& line, const eventlog_clock_sample& pair) noexcept {
    return rate_between({line.counter, static_cast<std::uint64_t>(line.monotonic), 0}, pair);
}

}  // namespace

double rate_between(const eventlog_clock_sample& early,
                    const eventlog_clock_sample& late) noexcept {
    if (late.monotonic <= early.monotonic || late.clock <= early.clock) {
        return 0;
    }
    return static_cast<double>(late.clock - early.clock) /
           static_cast<double>(late.monotonic - early.monotonic);
}

bool is_same_rate(double one, double other) noexcept {
    return one > other * (1 - rate_tolerance) && one < other * (1 + rate_tolerance);
}

tsc_calibration calibration_from(const eventlog_clock_sample& pair, double rate) noexcept {
    const tsc_line line = line_through(pair, rate > 0 ? rate : 1.0);
    return {line, line, 0};
}

void update_calibration(tsc_calibration& calibration, const eventlog_clock_sample& pair) noexcept {
    if (static_cast<std::int64_t>(pair.monotonic) - calibration.recent.monotonic <
        calibration_step) {
        return;
    }
    const double rate = rate_to(calibration.recent, pair);
    if (is_same_rate(rate, calibration.recent.rate)) {
        calibration.long_term.rate = rate_to(calibration.long_term, pair);
        calibration.recent = line_through(pair, rate);
        calibration.rejected_rate = 0;
    } else if (is_same_rate(rate, calibration.rejected_rate)) {
        calibration = calibration_from(pair, rate);
    } else {
        calibration = calibration_from(pair, calibration.recent.rate);
        calibration.rejected_rate = rate;
    }
}

std::uint64_t tsc_at(const tsc_calibration& calibration, std::int64_t time) noexcept {
    const std::int64_t ahead = time - calibration.recent.monotonic;
    const bool is_near = ahead <= recent_span && ahead >= -recent_span;
    const tsc_line& line = is_near ? calibration.recent : calibration.long_term;
    // Well below the range of the type: a wrong rate yields a wrong time, but no overflow.
    constexpr double ticks_max = 4e18;
    const double ticks =
        std::clamp(static_cast<double>(time - line.monotonic) * line.rate, -ticks_max, ticks_max);
    const auto rounded = static_cast<std::int64_t>(ticks + (ticks < 0 ? -0.5 : 0.5));
    const auto found =
        static_cast<std::int64_t>(line.counter + static_cast<std::uint64_t>(rounded));
    return static_cast<std::uint64_t>(std::max<std::int64_t>(found, 1));
}

}  // namespace eventlog::core
