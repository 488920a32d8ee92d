// SPDX-License-Identifier: MIT
//
// The options -o FILE|-, --force, --mode and --compress of commands that write a file.
#pragma once

#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/atomic_file.hpp"
#include "base/created_file.hpp"
#include "base/unfinished_files.hpp"
#include "base/unnamed_file.hpp"
#include "cli/command_line.hpp"
#include "platform/unique_fd.hpp"

namespace elog {

/// The descriptor that `-`, /dev/stdout, /dev/stderr, /dev/fd/N or /proc/self/fd/N names; nothing
/// for other paths. A shell gives such a name for >(COMMAND).
[[nodiscard]] std::optional<int> descriptor_of(const std::string& path);

/// Whether the path leads to a FIFO or a character device, which is written as it is. Throws
/// user_error if a link to it must not be followed.
[[nodiscard]] bool is_stream(const std::string& path);

/// Opens such a FIFO or device for writing, and waits for a reader of the FIFO as a redirection of
/// a shell does. Throws user_error, also for one of another user in a folder of several users.
[[nodiscard]] eventlog::core::unique_fd open_stream(const std::string& path);

struct output_arguments {
    std::string path;
    bool force = false;
    std::optional<std::string> mode{};  // of --mode
    int reserved = -1;                  // descriptor of the temporary file, if it is there already

    /// The inherited descriptor that the path names; nothing for a file.
    [[nodiscard]] std::optional<int> descriptor() const { return descriptor_of(path); }
    [[nodiscard]] bool is_standard_output() const { return descriptor() == STDOUT_FILENO; }
};

/// Throws user_error unless elog has inherited the descriptor and may write to it.
void check_descriptor(int descriptor, const std::string& path);

/// Adds -o, which is returned, and --force. The arguments have to live until the command line has
/// been read.
command_option add_output_options(subcommand& command, output_arguments& output,
                                  const char* description);

/// Adds --mode.
void add_mode_option(subcommand& command, std::optional<std::string>& mode);

/// The mode that --mode gives, or the other one. Throws usage_error.
[[nodiscard]] file_mode mode_or(const std::optional<std::string>& mode, file_mode other);

/// Adds --compress, and writes its level to `level`, which has to live until the command line has
/// been read; 0 means uncompressed.
void add_compress_option(subcommand& command, int& level);

/// Throws user_error if the file exists and --force is not given.
void check_may_replace(const output_arguments& output);

/// The file that a command writes, for writers that need a path. The file gets its name when it is
/// complete; standard output, another descriptor, a FIFO or a device gets the whole content then.
/// Without finish() nothing is written, also if SIGINT, SIGTERM or SIGHUP ends the process.
class output_file {
  public:
    /// Throws user_error if the file exists and --force is not given, if the path is neither a file
    /// nor a stream, or if it is a terminal, which cannot show binary data.
    explicit output_file(const output_arguments& output, file_mode mode = private_mode);

    /// The path to write to.
    [[nodiscard]] const std::string& path() const noexcept {
        return spool_ ? spool_->path() : named_->temporary_path();
    }
    /// The name for messages.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// Whether the descriptor has the file open that was created as path(), which another process
    /// may have replaced. Not for a stream.
    [[nodiscard]] bool is_open_as(int descriptor) const noexcept;

    /// The writer has completed and closed the file. Throws user_error or output_closed.
    void finish();

  private:
    void open_named(const output_arguments& output, file_mode mode);

    std::string name_;
    std::optional<unfinished_file> unfinished_;  // with named_, and longer
    std::optional<atomic_file> named_;
    eventlog::core::unique_fd stream_;  // of a FIFO or a device
    std::optional<unnamed_file> spool_;
    int descriptor_ = STDOUT_FILENO;  // with spool_
};

/// Text output of a command: a new file, or a descriptor, FIFO or device, to which text is written
/// at once.
class text_output {
  public:
    /// An empty path is standard output, too. Throws user_error as output_file does.
    explicit text_output(const output_arguments& output, file_mode mode = private_mode);

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    [[nodiscard]] bool is_standard_output() const noexcept { return descriptor_ == STDOUT_FILENO; }
    /// Gives the file its name. Throws user_error.
    void finish();

  private:
    void open_named(const output_arguments& output, file_mode mode);

    std::optional<output_file> named_;
    eventlog::core::unique_fd file_;  // with named_, or of a FIFO or a device
    int descriptor_ = STDOUT_FILENO;
};

/// Writes the whole output of a command, a text without events, with the mode of any other file.
/// Throws user_error or output_closed.
void write_text_output(const output_arguments& output, std::string_view content);

}  // namespace elog
