// SPDX-License-Identifier: MIT
#include "cli/time_range_options.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/nanoseconds.hpp"
#include "cli/time_points.hpp"
#include "cli/usage_error.hpp"
#include "text/time_of_day.hpp"

namespace elog {
namespace {

time_zone zone_of(const time_arguments& times) noexcept {
    return times.utc ? time_zone::utc : time_zone::local;
}

/// A recording is read in parts, and its last clock reading is at most that old at its end.
constexpr std::int64_t readings_apart_max = 2 * one_second;

/// Start of the recording on the clock.
std::int64_t start_of(display_clock clock, const std::string& path) {
    if (clock == display_clock::realtime) {
        return recording_start(path);
    }
    // The readings of the whole recording: only these convert the time as those of its records.
    file_reader file(path);
    const std::vector<eventlog_clock_sample>& readings = file.clock().pairs();
    const std::uint64_t first = readings.empty() ? 0 : readings.front().clock;
    const bool is_copy = file.host().origin == segment_origin::copied;
    return to_display_time(clock, file.clock(), is_copy ? file.earliest().value_or(first) : first);
}

/// Parses points in time of one recording, on the clock of the options. A time without a day is on
/// the day on which the recording began, unless only a later day gives it a meaning: the recording,
/// or the range, is over midnight. Of an hour that occurs twice, a range begins in the earlier one,
/// unless only the later one gives the time a meaning.
class point_parser {
  public:
    point_parser(const time_arguments& times, const std::string& path)
        : times_(times), path_(path), clock_(parse_clock(times)), start_(start_of(clock_, path)) {}

    [[nodiscard]] std::int64_t since(const std::string& text) const {
        const std::int64_t point = parse(text, {});
        if (point >= start_ || !is_time_of_day(text)) {
            return point;
        }
        // At the end of daylight saving time, the recording may have begun between the two.
        const std::int64_t repeated = parse(text, {.is_later = true});
        if (repeated >= start_) {
            return repeated <= end() ? repeated : point;
        }
        const std::int64_t moved = parse(text, on_day_after(text, start_, {}));
        return moved <= end() ? moved : point;
    }

    [[nodiscard]] std::int64_t until(const std::string& text,
                                     const std::optional<std::int64_t>& since) const {
        const time_reading later{.is_later = true};
        const std::int64_t point = parse(text, later);
        if (!is_time_of_day(text)) {
            return point;
        }
        if (since && point <= *since) {
            return parse(text, on_day_after(text, *since, later));
        }
        if (point > start_) {
            return point;
        }
        const time_reading moved = on_day_after(text, start_, later);
        return parse("00:00", {.days = moved.days}) <= end() ? parse(text, moved) : point;
    }

  private:
    [[nodiscard]] std::int64_t end() const {
        const file_reader file(path_);
        const std::vector<eventlog_clock_sample>& readings = file.clock().pairs();
        return readings.empty()
                   ? INT64_MIN
                   : std::min(to_display_time(clock_, file.clock(), readings.back().clock),
                              INT64_MAX - readings_apart_max) +
                         readings_apart_max;
    }

    /// The first day on which the time of day is after `limit`.
    [[nodiscard]] time_reading on_day_after(const std::string& text, std::int64_t limit,
                                            time_reading how) const {
        constexpr double day = 86400 * static_cast<double>(one_second);
        // Of a damaged recording, the beginning may be any time.
        constexpr double days_max = 100'000;
        std::int64_t point = parse(text, how);
        how.days = static_cast<int>(std::clamp(
            (static_cast<double>(limit) - static_cast<double>(point)) / day, 0.0, days_max));
        point = parse(text, how);
        for (int tries = 0; point <= limit && tries < 3; ++tries) {
            ++how.days;
            point = parse(text, how);
        }
        return how;
    }

    [[nodiscard]] std::int64_t parse(const std::string& text, time_reading how) const {
        if (has_days(clock_) || is_distance(text)) {
            const bool has_zone = clock_ == display_clock::realtime;
            return parse_time_point(text, start_, has_zone ? zone_of(times_) : time_zone::utc, how);
        }
        return parse_clock_seconds(text, name_of(clock_));
    }

    const time_arguments& times_;
    const std::string& path_;
    display_clock clock_;
    std::int64_t start_;
};

}  // namespace

time_options add_time_options(subcommand& command, time_arguments& times) {
    const command_option since =
        command.add_option("--since TIME", times.since,
                           "From that time on: 14:03:07.5, 2026-11-21T14:03:07, @SECONDS, +10s");
    const command_option until =
        command.add_option("--until TIME", times.until, "Only events before that time");
    command
        .add_option("--clock CLOCK", times.clock,
                    "Times are of that clock: realtime, monotonic, boottime or tai")
        .one_of({"realtime", "monotonic", "boottime", "tai"});
    command.add_flag("-u,--utc", times.utc, "Times are in UTC instead of local time");
    return {since, until};
}

display_clock parse_clock(const time_arguments& times) {
    const std::optional<display_clock> found =
        times.clock ? clock_of(*times.clock) : display_clock::realtime;
    if (!found) {
        throw usage_error("'{}' is no clock. Use realtime, monotonic, boottime or tai.",
                          *times.clock);
    }
    if (times.utc && *found != display_clock::realtime) {
        throw usage_error("--utc is for --clock realtime: other clocks have no zone.");
    }
    return *found;
}

time_range parse_time_range(const time_arguments& times, const std::string& path) {
    time_range range;
    if (!times.has_range()) {
        return range;
    }
    range.clock = parse_clock(times);
    const point_parser points(times, path);
    std::optional<std::int64_t> since;
    if (times.since) {
        since = points.since(*times.since);
        range.from = *since;
    }
    if (times.until) {
        range.to = points.until(*times.until, since);
    }
    return range;
}

std::string format_time_point(const time_arguments& times, const clock_converter& converter,
                              std::uint64_t time) {
    return format_time_point(times, to_display_time(parse_clock(times), converter, time));
}

std::string format_time_point(const time_arguments& times, std::int64_t nanoseconds) {
    const display_clock clock = parse_clock(times);
    fmt::memory_buffer out;
    if (!has_days(clock)) {
        out.push_back('@');
        append_seconds(out, nanoseconds);
        return fmt::to_string(out);
    }
    const bool has_zone = clock == display_clock::realtime;
    time_of_day day(!has_zone   ? time_of_day::zone::none
                    : times.utc ? time_of_day::zone::utc
                                : time_of_day::zone::local);
    day.append_date(out, nanoseconds);
    out.push_back(' ');
    day.append_to(out, nanoseconds);
    return fmt::to_string(out);
}

}  // namespace elog
