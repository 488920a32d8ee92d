// SPDX-License-Identifier: MIT
#include "cli/time_range_options.hpp"

#include <fmt/format.h>

#include "cli/time_points.hpp"
#include "cli/usage_error.hpp"
#include "text/time_of_day.hpp"

namespace elog {
namespace {

time_zone zone_of(const time_arguments& times) noexcept {
    return times.utc ? time_zone::utc : time_zone::local;
}

/// A time on another clock than CLOCK_REALTIME, as nanoseconds since 1970.
std::int64_t parse_on_clock(const std::string& text, display_clock clock, const std::string& path) {
    // The readings of the whole recording: only these convert the time as those of its records.
    const file_reader file(path);
    const clock_converter& converter = file.clock();
    if (has_days(clock)) {
        const std::uint64_t start = converter.empty() ? 0 : converter.pairs().front().clock;
        const std::int64_t day = to_display_time(clock, converter, start);
        return to_realtime(clock, converter, parse_time_point(text, day, time_zone::utc));
    }
    return to_realtime(clock, converter, parse_clock_seconds(text, name_of(clock)));
}

std::int64_t parse_point(const std::string& text, const time_arguments& times,
                         const std::string& path) {
    const display_clock clock = parse_clock(times);
    if (clock == display_clock::realtime || is_distance(text)) {
        return parse_time_point(text, recording_start(path), zone_of(times));
    }
    return parse_on_clock(text, clock, path);
}

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
    if (times.since) {
        range.from = parse_point(*times.since, times, path);
    }
    if (times.until) {
        range.to = parse_point(*times.until, times, path);
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
