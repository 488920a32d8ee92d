// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace elog {

/// A command that runs while we record. It is not ended with us.
class child_process {
  public:
    /// Starts it, found by PATH. Throws failure if that cannot be done.
    explicit child_process(const std::vector<std::string>& command);

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
