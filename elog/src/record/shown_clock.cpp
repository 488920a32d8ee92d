// SPDX-License-Identifier: MIT
#include "record/shown_clock.hpp"

#include "base/failure.hpp"
#include "text/append_format.hpp"

namespace elog {

std::int64_t time_on(shown_clock which, const clock_table& clock, std::uint64_t time) {
    if (which == shown_clock::realtime) {
        return clock.realtime(time);
    }
    if (which == shown_clock::monotonic) {
        return clock.monotonic(time);
    }
    if (clock.offsets().empty()) {
        throw failure("The recording does not say what CLOCK_BOOTTIME and CLOCK_TAI were: an older "
                      "elog has made it. Take --clock realtime or monotonic.");
    }
    return which == shown_clock::boottime ? clock.boottime(time) : clock.tai(time);
}

void shown_time::append_to(fmt::memory_buffer& out, const clock_table& clock, std::uint64_t time) {
    const std::int64_t nanoseconds = time_on(which_, clock, time);
    if (has_days(which_)) {
        days_.append_to(out, nanoseconds);
        return;
    }
    // In unsigned numbers, where nothing overflows.
    constexpr std::uint64_t second = 1'000'000'000;
    const auto bits = static_cast<std::uint64_t>(nanoseconds);
    const std::uint64_t size = nanoseconds < 0 ? 0 - bits : bits;
    append_format(out, "{}{}.{:09}", nanoseconds < 0 ? "-" : "", size / second, size % second);
}

}  // namespace elog
