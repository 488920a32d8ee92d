// SPDX-License-Identifier: MIT
#include "time_points.hpp"

#include <charconv>
#include <cstddef>
#include <ctime>
#include <optional>
#include <system_error>

#include "commands.hpp"
#include "quantities.hpp"

namespace elog {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t seconds_max = INT64_MAX / second - 1;
constexpr std::size_t digits_of_second = 9;

/// Takes pieces off the front of a text; once something does not fit, nothing does.
class pieces {
  public:
    explicit pieces(std::string_view text) : rest_(text) {}

    std::int64_t number(std::size_t digits_min, std::size_t digits_max, std::int64_t limit) {
        std::size_t count = 0;
        while (count < rest_.size() && rest_[count] >= '0' && rest_[count] <= '9') {
            ++count;
        }
        std::int64_t value = 0;
        const std::errc error = std::from_chars(rest_.data(), rest_.data() + count, value).ec;
        fits_ = fits_ && count >= digits_min && count <= digits_max && error == std::errc() &&
                value <= limit;
        rest_.remove_prefix(count);
        return value;
    }

    void expect(char wanted) {
        fits_ = fits_ && !rest_.empty() && rest_.front() == wanted;
        rest_.remove_prefix(fits_ ? 1 : 0);
    }

    /// What stands behind the point, in nanoseconds; nothing need stand there.
    std::int64_t fraction() {
        if (rest_.empty()) {
            return 0;
        }
        expect('.');
        const std::size_t before = rest_.size();
        std::int64_t value = number(1, digits_of_second, second);
        for (std::size_t i = before - rest_.size(); i < digits_of_second; ++i) {
            value *= 10;
        }
        return value;
    }

    [[nodiscard]] bool fit() const noexcept { return fits_ && rest_.empty(); }

  private:
    std::string_view rest_;
    bool fits_ = true;
};

/// HH:MM:SS.fraction of that day.
std::optional<std::int64_t> take_time_of_day(pieces& text, std::tm day) {
    day.tm_hour = static_cast<int>(text.number(1, 2, 23));
    text.expect(':');
    day.tm_min = static_cast<int>(text.number(2, 2, 59));
    text.expect(':');
    day.tm_sec = static_cast<int>(text.number(2, 2, 60));
    const std::int64_t fraction = text.fraction();
    day.tm_isdst = -1;
    const std::time_t seconds = std::mktime(&day);
    if (!text.fit() || seconds < -seconds_max || seconds > seconds_max) {
        return std::nullopt;
    }
    return seconds * second + fraction;
}

std::optional<std::int64_t> parse_date(std::string_view text) {
    pieces rest(text);
    std::tm day{};
    day.tm_year = static_cast<int>(rest.number(4, 4, 9999)) - 1900;
    rest.expect('-');
    day.tm_mon = static_cast<int>(rest.number(2, 2, 12)) - 1;
    rest.expect('-');
    day.tm_mday = static_cast<int>(rest.number(2, 2, 31));
    rest.expect(text.find('T') != std::string_view::npos ? 'T' : ' ');
    return take_time_of_day(rest, day);
}

std::optional<std::int64_t> parse_time_of_day(std::string_view text, std::int64_t start) {
    pieces rest(text);
    const std::time_t when = start / second;
    std::tm day{};
    static_cast<void>(::localtime_r(&when, &day));
    return take_time_of_day(rest, day);
}

std::optional<std::int64_t> parse_seconds(std::string_view text) {
    pieces rest(text);
    const std::int64_t seconds = rest.number(1, 18, seconds_max);
    const std::int64_t fraction = rest.fraction();
    return rest.fit() ? std::optional(seconds * second + fraction) : std::nullopt;
}

}  // namespace

std::int64_t parse_time_point(std::string_view text, std::int64_t start) {
    std::optional<std::int64_t> point;
    if (text.starts_with('+')) {
        const std::int64_t distance = parse_duration(text.substr(1)).count();
        point = start > INT64_MAX - distance ? INT64_MAX : start + distance;
    } else if (text.starts_with('@')) {
        point = parse_seconds(text.substr(1));
    } else if (text.find('-') != std::string_view::npos) {
        point = parse_date(text);
    } else {
        point = parse_time_of_day(text, start);
    }
    if (!point) {
        throw usage_failure("'{}' is not a time: write for example 14:03:07.5, "
                            "2026-11-21T14:03:07, @1795269787 or, from the beginning, +10s.",
                            text);
    }
    return *point;
}

}  // namespace elog
