// SPDX-License-Identifier: MIT
//
// The conditions that end a recording: a duration, signals, and the command that it runs, if any.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/stop_signal.hpp"
#include "recorder/child_process.hpp"

namespace elog {

class recorded_command {
  public:
    /// Without a duration only signals and the command end the recording. Throws usage_error.
    explicit recorded_command(const std::optional<std::string>& duration) : end_(duration) {}

    /// Starts the command, whose end ends the recording. Throws user_error.
    void start(const std::vector<std::string>& command, command_output output);
    [[nodiscard]] bool is_started() const noexcept { return child_.has_value(); }
    /// The command was started.
    [[nodiscard]] pid_t pid() const noexcept { return child_->pid(); }

    /// Whether the recording is to end. The first call, at the start of the recording, begins the
    /// duration. Passes signals on to the command.
    [[nodiscard]] bool should_stop();
    /// Whether a signal asks to stop now: the first one, with a command the second. Passes signals
    /// on to the command.
    [[nodiscard]] bool is_interrupted();

    /// Waits for the end of the command, or for the signal of is_interrupted().
    void wait();
    /// Writes to standard error whether the command still runs, or how it failed.
    void print_status();
    /// The status of a command that has ended, as a shell reports it.
    [[nodiscard]] std::optional<int> exit_status();

  private:
    std::optional<child_process> child_;
    deadline end_;
    int seen_ = 0;
};

}  // namespace elog
