// SPDX-License-Identifier: MIT
#include "record/display_clock.hpp"

#include "base/nanoseconds.hpp"
#include "base/user_error.hpp"
#include "text/append_format.hpp"

namespace elog {

std::int64_t to_display_time(display_clock which, const clock_converter& clock,
                             std::uint64_t time) {
    if (which == display_clock::realtime) {
        return clock.realtime(time);
    }
    if (which == display_clock::monotonic) {
        return clock.monotonic(time);
    }
    if (clock.offsets().empty()) {
        throw user_error(
            "The recording does not say what CLOCK_BOOTTIME and CLOCK_TAI were: an older "
            "elog has made it. Take --clock realtime or monotonic.");
    }
    return which == display_clock::boottime ? clock.boottime(time) : clock.tai(time);
}

void display_time::append_to(fmt::memory_buffer& out, const clock_converter& clock,
                             std::uint64_t time) {
    const std::int64_t nanoseconds = to_display_time(which_, clock, time);
    if (has_days(which_)) {
        days_.append_to(out, nanoseconds);
        return;
    }
    // Unsigned, because negating INT64_MIN overflows.
    constexpr auto second = static_cast<std::uint64_t>(one_second);
    const auto bits = static_cast<std::uint64_t>(nanoseconds);
    const std::uint64_t size = nanoseconds < 0 ? 0 - bits : bits;
    append_format(out, "{}{}.{:09}", nanoseconds < 0 ? "-" : "", size / second, size % second);
}

}  // namespace elog
