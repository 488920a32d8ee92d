// SPDX-License-Identifier: MIT
#include "cli/time_points.hpp"

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>

#include "cli/quantities.hpp"
#include "cli/usage_error.hpp"

namespace elog {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t seconds_max = INT64_MAX / second - 1;
constexpr std::size_t digits_of_second = 9;

/// A number of at most that many digits, without other characters.
std::optional<std::int64_t> parse_digits(std::string_view text, std::size_t digits_max) {
    std::int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    const bool sound = !text.empty() && text.size() <= digits_max && text.front() != '-' &&
                       rest == end && error == std::errc();
    return sound ? std::optional(value) : std::nullopt;
}

/// SECONDS or SECONDS.fraction
std::optional<std::int64_t> parse_seconds(std::string_view text) {
    const std::size_t point = text.find('.');
    const auto seconds = parse_digits(text.substr(0, point), digits_of_second * 2);
    if (!seconds || *seconds > seconds_max) {
        return std::nullopt;
    }
    if (point == std::string_view::npos) {
        return *seconds * second;
    }
    const std::string_view behind = text.substr(point + 1);
    auto fraction = parse_digits(behind, digits_of_second);
    if (!fraction) {
        return std::nullopt;
    }
    for (std::size_t i = behind.size(); i < digits_of_second; ++i) {
        *fraction *= 10;
    }
    return *seconds * second + *fraction;
}

}  // namespace

std::int64_t parse_time_point(std::string_view text, std::int64_t start, time_zone zone,
                              time_reading how) {
    std::optional<std::int64_t> point;
    if (is_distance(text)) {
        const std::int64_t distance = parse_distance(text.substr(1)).count();
        point = start > INT64_MAX - distance ? INT64_MAX : start + distance;
    } else if (text.starts_with('@')) {
        point = parse_seconds(text.substr(1));
    } else if (zone == time_zone::utc && !text.ends_with('Z')) {
        point = parse_time(std::string(text) + 'Z', start, how);
    } else {
        point = parse_time(text, start, how);
    }
    if (!point) {
        throw usage_error("'{}' is not a time: write for example 14:03:07.5, "
                          "2026-11-21T14:03:07, @1795269787 or, from the beginning, +10s.",
                          text);
    }
    return *point;
}

std::int64_t parse_clock_seconds(std::string_view text, std::string_view clock) {
    const std::optional<std::int64_t> point =
        text.starts_with('@') ? parse_seconds(text.substr(1)) : std::nullopt;
    if (!point) {
        throw usage_error(
            "'{}' is not a time of --clock {}: write for example @1234.5, in seconds, "
            "or, from the beginning of the recording, +10s.",
            text, clock);
    }
    return *point;
}

}  // namespace elog
