// SPDX-License-Identifier: MIT
//
// A command that runs while elog records it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace elog {

/// Throws user_error if no file can be executed as the command, as far as its kind, its mode and
/// the interpreter of a script show. Called before anything is created for the command.
void check_command(const std::string& name);

/// Where the command's standard output goes.
enum class command_output {
    inherited,
    to_standard_error,  // because standard output has the recording
};

/// The child process of a recording. It continues to run when this object is destroyed.
class child_process {
  public:
    /// Starts the command, searched in PATH. Throws user_error.
    explicit child_process(const std::vector<std::string>& command,
                           command_output output = command_output::inherited);

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

    /// Whether the process has ended. Does not wait.
    [[nodiscard]] bool has_ended();
    void send(int signal) const noexcept;

    /// After the end: a sentence about an exit other than status 0.
    [[nodiscard]] std::optional<std::string> complaint() const;
    /// After the end: the status as a shell reports it, 128 plus the number of a signal.
    [[nodiscard]] int exit_status() const noexcept;

  private:
    std::string name_;
    pid_t pid_ = -1;
    bool ended_ = false;
    int status_ = 0;
};

}  // namespace elog
