// SPDX-License-Identifier: MIT
#include "record/display_clock.hpp"

#include <array>
#include <cstddef>

#include "base/nanoseconds.hpp"
#include "base/user_error.hpp"
#include "text/append_format.hpp"

namespace elog {

namespace {

constexpr std::array<const char*, 4> clock_names{"realtime", "monotonic", "boottime", "tai"};

void check_offsets(const clock_converter& clock) {
    if (clock.offsets().empty()) {
        throw user_error(
            "The recording does not say what CLOCK_BOOTTIME and CLOCK_TAI were: an older "
            "elog has made it. Use --clock realtime or monotonic.");
    }
}

}  // namespace

const char* name_of(display_clock which) noexcept {
    return clock_names[static_cast<std::size_t>(which)];
}

std::optional<display_clock> clock_of(std::string_view name) noexcept {
    for (std::size_t i = 0; i < clock_names.size(); ++i) {
        if (name == clock_names[i]) {
            return static_cast<display_clock>(i);
        }
    }
    return std::nullopt;
}

std::int64_t to_display_time(display_clock which, const clock_converter& clock,
                             std::uint64_t time) {
    if (which == display_clock::realtime) {
        return clock.realtime(time);
    }
    if (which == display_clock::monotonic) {
        return clock.monotonic(time);
    }
    check_offsets(clock);
    return which == display_clock::boottime ? clock.boottime(time) : clock.tai(time);
}

void display_time::append_to(fmt::memory_buffer& out, const clock_converter& clock,
                             std::uint64_t time) {
    append_to(out, to_display_time(which_, clock, time));
}

void display_time::append_to(fmt::memory_buffer& out, std::int64_t nanoseconds) {
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
