// SPDX-License-Identifier: MIT
#include "text/time_literal.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "base/characters.hpp"
#include "base/nanoseconds.hpp"

namespace elog {
namespace {

/// Removes exactly `count` digits from the beginning of the text.
bool take_digits(std::string_view& text, std::size_t count, int& number) noexcept {
    if (text.size() < count) {
        return false;
    }
    number = 0;
    for (const char c : text.substr(0, count)) {
        if (!is_digit(c)) {
            return false;
        }
        number = number * 10 + (c - '0');
    }
    text.remove_prefix(count);
    return true;
}

bool take(std::string_view& text, char c) noexcept {
    if (text.empty() || text.front() != c) {
        return false;
    }
    text.remove_prefix(1);
    return true;
}

/// YYYY-MM-DD from 1970 to 2200, which is within 64 bits of nanoseconds.
bool take_day(std::string_view& text, std::tm& parts) noexcept {
    const bool sound = take_digits(text, 4, parts.tm_year) && take(text, '-') &&
                       take_digits(text, 2, parts.tm_mon) && take(text, '-') &&
                       take_digits(text, 2, parts.tm_mday);
    if (!sound || parts.tm_year < 1970 || parts.tm_year > 2200 || parts.tm_mon < 1 ||
        parts.tm_mon > 12 || parts.tm_mday < 1 || parts.tm_mday > 31) {
        return false;
    }
    const std::chrono::year_month_day day{std::chrono::year(parts.tm_year),
                                          std::chrono::month(static_cast<unsigned>(parts.tm_mon)),
                                          std::chrono::day(static_cast<unsigned>(parts.tm_mday))};
    if (!day.ok()) {
        return false;  // not in that month
    }
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    return true;
}

/// HH:MM, HH:MM:SS or HH:MM:SS.fraction
bool take_hour(std::string_view& text, std::tm& parts, std::int64_t& rest) noexcept {
    if (!take_digits(text, 2, parts.tm_hour) || !take(text, ':') ||
        !take_digits(text, 2, parts.tm_min) || parts.tm_hour > 23 || parts.tm_min > 59) {
        return false;
    }
    if (!take(text, ':')) {
        return true;
    }
    if (!take_digits(text, 2, parts.tm_sec) || parts.tm_sec > 60) {
        return false;
    }
    if (!take(text, '.')) {
        return true;
    }
    int digit = 0;
    std::int64_t weight = one_second / 10;
    if (!take_digits(text, 1, digit)) {
        return false;
    }
    do {
        rest += digit * weight;
        weight /= 10;
    } while (weight != 0 && take_digits(text, 1, digit));
    return true;
}

/// Seconds by which the clocks of the zone are ahead of UTC at that time.
std::int64_t zone_offset(std::int64_t seconds) noexcept {
    const std::time_t when = seconds;
    std::tm parts{};
    return ::localtime_r(&when, &parts) == nullptr ? 0 : std::int64_t{parts.tm_gmtoff};
}

/// The first second at which the zone has another offset than at `begin`; it has at `end`.
std::int64_t offset_change(std::int64_t begin, std::int64_t end) noexcept {
    const std::int64_t before = zone_offset(begin);
    while (begin + 1 < end) {
        const std::int64_t middle = begin + (end - begin) / 2;
        (zone_offset(middle) == before ? begin : end) = middle;
    }
    return end;
}

/// The time at which the clocks of the zone show `shown`, seconds since 1970 as if it were UTC.
/// Both offsets around a change are tried: std::mktime would choose one.
std::int64_t local_seconds(std::int64_t shown, bool is_later) noexcept {
    constexpr std::int64_t day = 86400;  // more than any offset
    const std::int64_t with_old = shown - zone_offset(shown - day);
    const std::int64_t with_new = shown - zone_offset(shown + day);
    const bool is_old = zone_offset(with_old) == shown - with_old;
    const bool is_new = zone_offset(with_new) == shown - with_new;
    if (is_old && is_new) {
        return is_later ? std::max(with_old, with_new) : std::min(with_old, with_new);
    }
    if (is_old || is_new) {
        return is_old ? with_old : with_new;
    }
    return offset_change(with_new, with_old);
}

}  // namespace

std::optional<std::int64_t> parse_time(std::string_view text, std::int64_t reference,
                                       time_reading how) noexcept {
    std::tm parts{};
    std::int64_t rest = 0;
    const std::time_t then = whole_seconds(reference);
    if (is_time_of_day(text)) {
        std::tm day{};
        // With a Z the day, too, is that of UTC.
        if ((text.back() == 'Z' ? ::gmtime_r(&then, &day) : ::localtime_r(&then, &day)) ==
            nullptr) {
            return std::nullopt;
        }
        parts.tm_year = day.tm_year;
        parts.tm_mon = day.tm_mon;
        parts.tm_mday = day.tm_mday + how.days;
        if (!take_hour(text, parts, rest)) {
            return std::nullopt;
        }
    } else if (!take_day(text, parts) ||
               ((take(text, 'T') || take(text, ' ')) && !take_hour(text, parts, rest))) {
        return std::nullopt;
    }
    const bool is_utc = take(text, 'Z');
    if (!text.empty()) {
        return std::nullopt;
    }
    const std::int64_t shown = ::timegm(&parts);
    const std::int64_t seconds = is_utc ? shown : local_seconds(shown, how.is_later);
    // `reference` of a damaged recording may be on the last day of 64 bits, which is incomplete.
    std::int64_t found = 0;
    const bool is_out_of_reach = __builtin_mul_overflow(seconds, one_second, &found) ||
                                 __builtin_add_overflow(found, rest, &found);
    return is_out_of_reach ? std::nullopt : std::optional(found);
}

}  // namespace elog
