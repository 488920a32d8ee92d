// SPDX-License-Identifier: MIT
#include "record/clock_offset_table.hpp"

#include <time.h>

#include "base/nanoseconds.hpp"
#include "platform/time_namespace.hpp"

namespace elog {
namespace {

constexpr std::uint64_t boottime_tolerance = 1000;  // nanoseconds

std::int64_t nanoseconds(clockid_t clock) noexcept {
    timespec now{};
    return ::clock_gettime(clock, &now) == 0 ? now.tv_sec * one_second + now.tv_nsec : 0;
}

/// `clock` - `from` at one instant.
std::int64_t difference(clockid_t clock, clockid_t from) noexcept {
    // The shortest of several readings was most likely not interrupted.
    std::int64_t found = 0;
    std::int64_t least = INT64_MAX;
    for (int i = 0; i < 5; ++i) {
        const std::int64_t before = nanoseconds(from);
        const std::int64_t time = nanoseconds(clock);
        const std::int64_t took = nanoseconds(from) - before;
        // CLOCK_REALTIME may be set back between the readings.
        if (took >= 0 && took < least) {
            least = took;
            found = time - (before + took / 2);
        }
    }
    return found;
}

/// |one - other|, unsigned so that values of a damaged file do not overflow.
std::uint64_t distance(std::int64_t one, std::int64_t other) noexcept {
    const std::uint64_t apart = static_cast<std::uint64_t>(one) - static_cast<std::uint64_t>(other);
    return one > other ? apart : 0 - apart;
}

}  // namespace

clock_offsets read_clock_offsets(std::uint64_t clock) noexcept {
    // TAI differs by whole seconds.
    const std::int64_t tai = difference(CLOCK_TAI, CLOCK_REALTIME);
    const eventlog::core::time_offsets own = eventlog::core::own_time_offsets();
    return {clock, difference(CLOCK_BOOTTIME, CLOCK_MONOTONIC) - own.boottime + own.monotonic,
            (tai + (tai < 0 ? -one_second : one_second) / 2) / one_second * one_second};
}

bool offsets_changed(const clock_offsets& before, const clock_offsets& now) noexcept {
    return distance(before.boottime, now.boottime) > boottime_tolerance || before.tai != now.tai;
}

}  // namespace elog
