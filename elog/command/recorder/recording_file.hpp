// SPDX-License-Identifier: MIT
//
// The options of elog record for the file that it writes.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command_line.hpp"
#include "cli/output_file.hpp"
#include "file/file_sink.hpp"

namespace elog {

struct recording_file_arguments {
    std::optional<std::string> output;
    bool force = false;
    std::optional<std::string> mode{};  // of --mode
    int compression = 0;
    std::optional<std::string> rotate;
    std::optional<std::uint64_t> keep;
    std::optional<std::string> max_total;
    std::optional<std::string> split_by{};
    eventlog::core::unique_fd stream{};  // by open_recording_stream()

    /// The descriptor of the stream, or the inherited one that -o names; nothing for a file, and
    /// without -o.
    [[nodiscard]] std::optional<int> descriptor() const {
        const std::optional<int> named = output ? descriptor_of(*output) : std::nullopt;
        return stream ? stream.get() : named;
    }
    /// Whether -o names something that is written as it is: a descriptor, a FIFO or a device.
    [[nodiscard]] bool is_open_or_stream() const {
        return descriptor() || (output && is_stream(*output));
    }
    /// Whether the recording continues in a new file of the same name if the file is moved.
    [[nodiscard]] bool is_reopened() const { return rotate == "reopen"; }
    [[nodiscard]] bool is_standard_output() const { return descriptor() == STDOUT_FILENO; }
};

/// Adds -o, --force, --mode, --compress, --rotate, --keep, --max-total and --split-by.
/// The arguments have to live until the command line has been read.
void add_recording_file_options(subcommand& command, recording_file_arguments& arguments);

/// Rejects what can be checked before anything is started. Throws usage_error for options that do
/// not fit together and for a terminal, and user_error for a file that exists.
void check_recording_file(const recording_file_arguments& arguments);

/// Opens the FIFO or device that -o names, if it names one, and waits for a reader of the FIFO.
/// Throws user_error.
void open_recording_stream(recording_file_arguments& arguments);

/// The options of the sink for -o. Throws usage_error.
[[nodiscard]] file_sink_options make_file_options(const recording_file_arguments& arguments);

/// The name of the file, or the pattern of several; nothing without a file.
[[nodiscard]] std::optional<std::string> name_of_recording(
    const recording_file_arguments& arguments);

}  // namespace elog
