// SPDX-License-Identifier: MIT
//
// The sink of elog record -o, and what it has in common with the recording.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/background_close.hpp"
#include "base/created_file.hpp"
#include "base/output.hpp"
#include "file/file_sink.hpp"
#include "record/record_sink.hpp"
#include "recorder/recording_file.hpp"
#include "recorder/split_recording.hpp"

namespace elog {

/// What the sink of a file asks for, and reports.
struct file_connection {
    std::function<recording_notes()> notes{};
    bool should_end = false;                           // a file cannot be written
    std::uint64_t moved = 0;                           // events in files that were moved
    std::optional<incomplete_recording> incomplete{};  // after the end
    std::optional<split_recording> split{};
    // For a command, one of which is called after the start of the sink:
    /// Removes the file that was made; one that --force replaced has its name again.
    std::function<void()> undo = [] {};
    /// Removes a file that was replaced, without waiting until its blocks are free.
    std::function<void()> on_command_start = [] {};
    replaced_file replaced{};
    background_close removed{};
};

/// Makes the sink of the file or files, which ends before the connection. `command`: its words,
/// empty without one.
[[nodiscard]] std::unique_ptr<record_sink> make_file_sink(const recording_file_arguments& arguments,
                                                          std::string command,
                                                          abort_check should_abort,
                                                          file_connection& file);

}  // namespace elog
