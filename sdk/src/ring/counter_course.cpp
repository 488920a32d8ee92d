// SPDX-License-Identifier: MIT
#include "ring/counter_course.hpp"

#include <algorithm>
#include <cstdint>

namespace eventlog::core {
namespace {

constexpr double rate_tolerance = 1e-3;
// So near to the last reading its own rate counts, in nanoseconds.
constexpr std::int64_t near_by = 1'000'000'000;

counter_line line_through(const eventlog_clock_pair& pair, double rate) noexcept {
    return {static_cast<std::int64_t>(pair.monotonic), pair.clock, rate};
}

/// From where a line begins to a pair.
double rate_to(const counter_line& line, const eventlog_clock_pair& pair) noexcept {
    return rate_between({line.counter, static_cast<std::uint64_t>(line.monotonic), 0}, pair);
}

}  // namespace

double rate_between(const eventlog_clock_pair& early, const eventlog_clock_pair& late) noexcept {
    if (late.monotonic <= early.monotonic || late.clock <= early.clock) {
        return 0;
    }
    return static_cast<double>(late.clock - early.clock) /
           static_cast<double>(late.monotonic - early.monotonic);
}

bool is_same_rate(double one, double other) noexcept {
    return one > other * (1 - rate_tolerance) && one < other * (1 + rate_tolerance);
}

counter_course course_from(const eventlog_clock_pair& pair, double rate) noexcept {
    const counter_line line = line_through(pair, rate > 0 ? rate : 1.0);
    return {line, line, 0};
}

void follow(counter_course& course, const eventlog_clock_pair& pair) noexcept {
    if (static_cast<std::int64_t>(pair.monotonic) - course.lately.monotonic < course_step) {
        return;
    }
    const double rate = rate_to(course.lately, pair);
    if (is_same_rate(rate, course.lately.rate)) {
        course.all_along.rate = rate_to(course.all_along, pair);
        course.lately = line_through(pair, rate);
        course.refused = 0;
    } else if (is_same_rate(rate, course.refused)) {
        course = course_from(pair, rate);
    } else {
        course = course_from(pair, course.lately.rate);
        course.refused = rate;
    }
}

std::uint64_t counter_at(const counter_course& course, std::int64_t time) noexcept {
    const std::int64_t ahead = time - course.lately.monotonic;
    const bool is_near = ahead <= near_by && ahead >= -near_by;
    const counter_line& line = is_near ? course.lately : course.all_along;
    // Much less than fits, so that a wrong rate leads to a wrong time at the worst.
    constexpr double ticks_max = 4e18;
    const double ticks =
        std::clamp(static_cast<double>(time - line.monotonic) * line.rate, -ticks_max, ticks_max);
    const auto rounded = static_cast<std::int64_t>(ticks + (ticks < 0 ? -0.5 : 0.5));
    const auto found =
        static_cast<std::int64_t>(line.counter + static_cast<std::uint64_t>(rounded));
    return static_cast<std::uint64_t>(std::max<std::int64_t>(found, 1));
}

}  // namespace eventlog::core
