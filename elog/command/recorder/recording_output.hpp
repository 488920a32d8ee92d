// SPDX-License-Identifier: MIT
//
// The sink of elog record -o, and what it has in common with the recording.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

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
    std::optional<incomplete_recording> incomplete{};  // after the end
    std::optional<split_recording> split{};
    /// Removes the file that the start of the sink has made; one that --force replaced has its name
    /// again. Until this function is destroyed, that one has a second name. For a command only.
    std::function<void()> undo{};
};

/// Makes the sink of the file or files, which ends before the connection. `command`: its words,
/// empty without one.
[[nodiscard]] std::unique_ptr<record_sink> make_file_sink(const recording_file_arguments& arguments,
                                                          std::string command,
                                                          abort_check should_abort,
                                                          file_connection& file);

}  // namespace elog
