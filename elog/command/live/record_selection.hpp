// SPDX-License-Identifier: MIT
//
// The selected part of a recording: FILE, --since, --until, --where, --limit and --tail.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/command_line.hpp"
#include "cli/time_range_options.hpp"
#include "file/file_reader.hpp"
#include "import/input_recording.hpp"

namespace elog {

struct record_selection {
    std::string path;
    time_arguments times;
    std::optional<std::string> where;
    std::optional<std::uint64_t> limit;  // number of the first events; nothing: all
    std::optional<std::uint64_t> tail;   // number of the last events; nothing: all
    std::string shown_name{};            // for messages, if the file is a temporary one

    /// Whether any option selects a part.
    [[nodiscard]] bool is_part() const noexcept {
        return times.has_range() || where || limit || tail;
    }

    /// Copies a pipe and imports a recording of perf or trace-cmd, and reports what is not in its
    /// events. Has to precede all reading. Throws user_error.
    void open(pipe_copy extent = pipe_copy::whole);
    /// After open().
    [[nodiscard]] input_recording& recording() noexcept { return *recording_; }
    /// The path of the readable file.
    [[nodiscard]] const std::string& readable_path() const noexcept;
    /// Reports a part of the time without any record, then calls fail_if_damaged, also for the
    /// parts that could not be imported. `file` has been read.
    void complain(const file_reader& file, const char* done = "shown") const;

    /// Throws user_error or usage_error.
    [[nodiscard]] time_range range() const { return parse_time_range(times, readable_path()); }
    /// Losses after the last record count only if the selected time includes the end.
    [[nodiscard]] bool has_end() const noexcept { return !times.until; }

  private:
    [[nodiscard]] const std::string& name() const noexcept;
    void report_empty_range(const file_reader& file) const;

    std::shared_ptr<input_recording> recording_;
};

struct selection_options {
    command_option since;
    command_option until;
    command_option tail;
};

/// Adds the options of add_time_options, --where, --limit and --tail.
selection_options add_part_options(subcommand& command, record_selection& choice);

/// Adds FILE and these options.
selection_options add_selection_options(subcommand& command, record_selection& choice);

/// Adds the argument FILE of a command that reads a recording.
command_option add_input_argument(subcommand& command, std::string& path);

/// Adds --limit.
command_option add_limit_option(subcommand& command, std::optional<std::uint64_t>& limit,
                                const char* description = "Only that many events, the first ones");

}  // namespace elog
