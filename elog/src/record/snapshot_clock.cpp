// SPDX-License-Identifier: MIT
#include "record/snapshot_clock.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>

#include "ring/clock.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

// Measures the rate to some millionths.
constexpr std::chrono::milliseconds measuring_time{20};

// How far ticks and CLOCK_MONOTONIC may differ: nanoseconds, plus a fraction of the elapsed time.
// If the machine has slept, during which only one of them stops, they differ by more.
constexpr double tolerance = 1e6;
constexpr double tolerance_of_all = 1e-3;

/// Nanoseconds per tick; 0 if the readings do not determine it.
double measured_rate(std::uint32_t clock, const eventlog_clock_sample& now,
                     const eventlog_clock_sample& later) noexcept {
    if (clock == EVENTLOG_CLOCK_MONOTONIC) {
        return 1.0;
    }
    if (later.clock <= now.clock || later.monotonic <= now.monotonic) {
        return 0.0;
    }
    return static_cast<double>(later.monotonic - now.monotonic) /
           static_cast<double>(later.clock - now.clock);
}

/// Whether both clocks have run at the same rate since `start`.
bool agree(const eventlog_clock_sample& start, const eventlog_clock_sample& now,
           double rate) noexcept {
    const auto passed = static_cast<double>(now.monotonic - start.monotonic);
    const double by_ticks = static_cast<double>(now.clock - start.clock) * rate;
    return start.clock <= now.clock && start.monotonic <= now.monotonic &&
           std::abs(by_ticks - passed) <= tolerance + tolerance_of_all * passed;
}

}  // namespace

eventlog_clock_sample extrapolate_start_reading(const eventlog_region& header,
                                                const eventlog_clock_sample& now,
                                                const eventlog_clock_sample& later) noexcept {
    const double rate = measured_rate(header.clock, now, later);
    if (rate <= 0) {
        return now;
    }
    eventlog_clock_sample start = header.clock_start;
    if (!agree(start, now, rate)) {
        // Half of the distance to the clocks' zero, so that rounding cannot pass it.
        const double distance =
            std::min(static_cast<double>(now.monotonic), static_cast<double>(now.clock) * rate) / 2;
        start.clock = now.clock - static_cast<std::uint64_t>(distance / rate);
        start.monotonic = now.monotonic - static_cast<std::uint64_t>(distance);
    }
    start.realtime = now.realtime - (now.monotonic - start.monotonic);
    return start;
}

eventlog_clock_sample extrapolate_start_reading(const eventlog_region& header) {
    const eventlog_clock_sample now = core::read_clock_sample(header.clock);
    if (header.clock != EVENTLOG_CLOCK_MONOTONIC) {
        std::this_thread::sleep_for(measuring_time);
    }
    return extrapolate_start_reading(header, now, core::read_clock_sample(header.clock));
}

}  // namespace elog
