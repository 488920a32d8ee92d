// SPDX-License-Identifier: MIT
#include "text/time_of_day.hpp"

#include <cstddef>
#include <ctime>

#include "base/nanoseconds.hpp"
#include "text/escaped_text.hpp"

namespace elog {
namespace {

/// Writes the digits itself: every line has them, and a formatter would double the line's cost.
void append_microseconds(fmt::memory_buffer& out, std::int64_t microseconds) {
    char digits[] = ".000000";
    for (std::size_t i = sizeof digits - 2; microseconds != 0; --i, microseconds /= 10) {
        digits[i] = static_cast<char>('0' + microseconds % 10);
    }
    append(out, {static_cast<const char*>(digits), sizeof digits - 1});
}

}  // namespace

void time_of_day::update_cache(std::int64_t seconds) noexcept {
    if (seconds == second_) {
        return;
    }
    second_ = seconds;
    const std::time_t when = seconds;
    std::tm parts{};
    static_cast<void>(zone_ == zone::local ? ::localtime_r(&when, &parts)
                                           : ::gmtime_r(&when, &parts));
    static_cast<void>(std::strftime(clock_text_, sizeof clock_text_, "%H:%M:%S", &parts));
    static_cast<void>(std::strftime(date_text_, sizeof date_text_, "%Y-%m-%d", &parts));
}

void time_of_day::append_to(fmt::memory_buffer& out, std::int64_t nanoseconds) {
    update_cache(whole_seconds(nanoseconds));
    append(out, static_cast<const char*>(clock_text_));
    append_microseconds(out, rest_of_second(nanoseconds) / 1000);
    if (zone_ == zone::utc) {
        out.push_back('Z');
    }
}

void time_of_day::append_date(fmt::memory_buffer& out, std::int64_t nanoseconds) {
    update_cache(whole_seconds(nanoseconds));
    append(out, static_cast<const char*>(date_text_));
}

void append_seconds(fmt::memory_buffer& out, std::int64_t nanoseconds, std::size_t width) {
    // Microseconds first: dividing does not overflow, and their negation does not either.
    const std::int64_t microseconds = nanoseconds / 1000;
    const std::int64_t seconds = microseconds / 1'000'000;
    const std::int64_t rest = microseconds % 1'000'000;
    const fmt::format_int whole(seconds < 0 ? -seconds : seconds);
    const bool is_negative = microseconds < 0;
    const std::size_t size = whole.size() + 7 + (is_negative ? 1U : 0U);
    for (std::size_t i = size; i < width; ++i) {
        out.push_back(' ');
    }
    if (is_negative) {
        out.push_back('-');
    }
    append(out, {whole.data(), whole.size()});
    append_microseconds(out, rest < 0 ? -rest : rest);
}

}  // namespace elog
