// SPDX-License-Identifier: MIT
#include "text/time_of_day.hpp"

#include <cstddef>
#include <ctime>
#include <string_view>

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

std::tm parts_of(std::int64_t seconds, bool is_local) noexcept {
    const std::time_t when = seconds;
    std::tm parts{};
    static_cast<void>(is_local ? ::localtime_r(&when, &parts) : ::gmtime_r(&when, &parts));
    return parts;
}

template <std::size_t Size>
void format_date(char (&text)[Size], const std::tm& parts) noexcept {
    static_cast<void>(std::strftime(text, Size, "%Y-%m-%d", &parts));
}

}  // namespace

time_of_day::time_of_day(zone shown, std::optional<std::int64_t> today) noexcept : zone_(shown) {
    if (today) {
        format_date(today_, parts_of(whole_seconds(*today), zone_ == zone::local));
    }
}

void time_of_day::update_cache(std::int64_t seconds) noexcept {
    if (seconds == second_) {
        return;
    }
    second_ = seconds;
    const std::tm parts = parts_of(seconds, zone_ == zone::local);
    static_cast<void>(std::strftime(clock_text_, sizeof clock_text_, "%H:%M:%S", &parts));
    format_date(date_text_, parts);
    const std::string_view today = static_cast<const char*>(today_);
    shows_date_ = shows_date_ || (!today.empty() && today != static_cast<const char*>(date_text_));
}

void time_of_day::append_cached(fmt::memory_buffer& out, std::int64_t nanoseconds) const {
    append(out, static_cast<const char*>(clock_text_));
    append_microseconds(out, rest_of_second(nanoseconds) / 1000);
    if (zone_ == zone::utc) {
        out.push_back('Z');
    }
}

void time_of_day::append_to(fmt::memory_buffer& out, std::int64_t nanoseconds) {
    update_cache(whole_seconds(nanoseconds));
    append_cached(out, nanoseconds);
}

void time_of_day::append_dated(fmt::memory_buffer& out, std::int64_t nanoseconds) {
    update_cache(whole_seconds(nanoseconds));
    if (shows_date_) {
        append(out, static_cast<const char*>(date_text_));
        out.push_back(' ');
    }
    append_cached(out, nanoseconds);
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
