// SPDX-License-Identifier: MIT
//
// The options of all commands that read recordings for times: --since, --until, --clock and --utc.
//
// --clock and --utc hold for times that are given and for times that are displayed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command_line.hpp"
#include "file/file_reader.hpp"
#include "record/clock_converter.hpp"
#include "record/display_clock.hpp"

namespace elog {

struct time_arguments {
    std::optional<std::string> since;
    std::optional<std::string> until;
    std::optional<std::string> clock;
    bool utc = false;

    /// A part of the time is selected.
    [[nodiscard]] bool has_range() const noexcept { return since || until; }
};

struct time_options {
    command_option since;
    command_option until;
};

/// Adds --since, --until, --clock and -u,--utc. The arguments have to live until the command line
/// has been read.
time_options add_time_options(subcommand& command, time_arguments& times);

/// The clock of --clock. Throws usage_error for an unknown clock, and for --utc with a clock that
/// has no zone.
[[nodiscard]] display_clock parse_clock(const time_arguments& times);

/// The selected part of the time of the .elog file at `path`. Reads the beginning of the file, and
/// for times on another clock than realtime the headers of all blocks. Throws usage_error for an
/// invalid time, and user_error if the file cannot be read or does not have the clock.
[[nodiscard]] time_range parse_time_range(const time_arguments& times, const std::string& path);

/// Day and time, or @SECONDS for a clock without days, in a form that --since accepts, of a time
/// that to_display_time returned for the clock.
[[nodiscard]] std::string format_time_point(const time_arguments& times, std::int64_t nanoseconds);
/// The same of a time on the clock of `converter`.
[[nodiscard]] std::string format_time_point(const time_arguments& times,
                                            const clock_converter& converter, std::uint64_t time);

}  // namespace elog
