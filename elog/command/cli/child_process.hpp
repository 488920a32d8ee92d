// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace elog {

/// Throws failure if there is no such command: before anything is done for it.
void check_command(const std::string& name);

/// A command that runs while we record. It is not ended with us.
class child_process {
  public:
    /// Starts it, found by PATH. Throws failure if that cannot be done.
    explicit child_process(const std::vector<std::string>& command);

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

    /// Whether it has ended; does not wait.
    [[nodiscard]] bool has_ended();
    void send(int signal) const noexcept;

    /// Once it has ended: a sentence about an end other than exit status 0.
    [[nodiscard]] std::optional<std::string> complaint() const;

  private:
    std::string name_;
    pid_t pid_ = -1;
    bool ended_ = false;
    int status_ = 0;
};

}  // namespace elog
