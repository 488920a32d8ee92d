// SPDX-License-Identifier: MIT
#include "record/clock_converter.hpp"

#include <algorithm>

namespace elog {
namespace {

constexpr double time_limit = 9.0e18;  // a little less than INT64_MAX nanoseconds

// INT64_MAX is the end of an open range, and every time must be before it.
constexpr std::int64_t time_max = INT64_MAX - 1;

/// The first reading after the time.
template <class Reading>
auto first_after(const std::vector<Reading>& readings, std::uint64_t clock) noexcept {
    return std::upper_bound(
        readings.begin(), readings.end(), clock,
        [](std::uint64_t time, const Reading& each) { return time < each.clock; });
}

/// Saturates.
std::int64_t sum(std::int64_t time, std::int64_t offset) noexcept {
    std::int64_t found = 0;
    if (__builtin_add_overflow(time, offset, &found)) {
        return offset > 0 ? time_max : INT64_MIN;
    }
    return std::min(found, time_max);
}

}  // namespace

void clock_converter::add(const eventlog_clock_sample& pair) {
    if (pairs_.empty() ||
        (pair.clock > pairs_.back().clock && pair.monotonic >= pairs_.back().monotonic)) {
        pairs_.push_back(pair);
    }
}

void clock_converter::add_offsets(const clock_offsets& offsets) {
    if (offsets_.empty() || offsets.clock > offsets_.back().clock) {
        offsets_.push_back(offsets);
    }
}

/// The last offsets that are not after the time, or the first ones.
clock_offsets clock_converter::offsets_at(std::uint64_t clock) const noexcept {
    if (offsets_.empty()) {
        return {};
    }
    const auto next = first_after(offsets_, clock);
    return next == offsets_.begin() ? *next : *(next - 1);
}

double clock_converter::nanoseconds_per_tick(std::size_t first, std::size_t last) const noexcept {
    if (clock_ == EVENTLOG_CLOCK_MONOTONIC || first == last) {
        return 1.0;
    }
    return static_cast<double>(pairs_[last].monotonic - pairs_[first].monotonic) /
           static_cast<double>(pairs_[last].clock - pairs_[first].clock);
}

std::int64_t clock_converter::realtime(std::uint64_t clock) const noexcept {
    return convert(clock, &eventlog_clock_sample::realtime);
}

std::int64_t clock_converter::monotonic(std::uint64_t clock) const noexcept {
    return convert(clock, &eventlog_clock_sample::monotonic);
}

std::int64_t clock_converter::boottime(std::uint64_t clock) const noexcept {
    return sum(monotonic(clock), offsets_at(clock).boottime);
}

std::int64_t clock_converter::tai(std::uint64_t clock) const noexcept {
    return sum(realtime(clock), offsets_at(clock).tai);
}

std::int64_t clock_converter::convert(std::uint64_t clock,
                                      __u64 eventlog_clock_sample::*to) const noexcept {
    if (pairs_.empty()) {
        return static_cast<std::int64_t>(std::min(clock, static_cast<std::uint64_t>(time_max)));
    }
    // The last pair not after the time, and the rate from it to the next one.
    const auto after = static_cast<std::size_t>(first_after(pairs_, clock) - pairs_.begin());
    const std::size_t base = after == 0 ? 0 : after - 1;
    const bool between = after > 0 && after < pairs_.size();
    const double rate =
        between ? nanoseconds_per_tick(base, after) : nanoseconds_per_tick(0, pairs_.size() - 1);
    // A damaged file may contain any pair and any time: nothing here may overflow, and a later time
    // must not become an earlier one, because a search for a time compares only the borders.
    const std::uint64_t reading = pairs_[base].clock;
    const bool is_later = clock >= reading;
    const auto ticks = static_cast<double>(is_later ? clock - reading : reading - clock);
    const auto distance = static_cast<std::int64_t>(std::min(ticks * rate, time_limit));
    const auto start = static_cast<std::int64_t>(pairs_[base].*to);
    std::int64_t found = 0;
    if (is_later) {
        return __builtin_add_overflow(start, distance, &found) ? time_max
                                                               : std::min(found, time_max);
    }
    return __builtin_sub_overflow(start, distance, &found) ? INT64_MIN : found;
}

}  // namespace elog
