// SPDX-License-Identifier: MIT
//
// Requests by signal: to stop, after which a recording ends in order, to pause and to resume it.
// Removal of unfinished files by signals that end the process.
#pragma once

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>

namespace elog {

/// From now on SIGINT, SIGTERM and SIGHUP only count a request.
void catch_stop_signals();

struct stop_request {
    int count = 0;             // number of requests
    int signal = 0;            // the last one
    bool by_terminal = false;  // the terminal sent it to the recorded command as well
};

[[nodiscard]] stop_request stop_requested() noexcept;

/// From now on SIGINT, SIGTERM and SIGHUP remove the unfinished files (base/unfinished_files.hpp)
/// before they end the process, unless they are ignored or count requests.
void remove_files_on_stop_signals();

/// Delays SIGINT, SIGTERM and SIGHUP of this thread until its end.
class delayed_stop_signals {
  public:
    delayed_stop_signals() noexcept;
    ~delayed_stop_signals();
    delayed_stop_signals(const delayed_stop_signals&) = delete;
    delayed_stop_signals& operator=(const delayed_stop_signals&) = delete;

  private:
    sigset_t before_{};
};

enum class pause_request { none, pause, resume };

/// From now on SIGUSR1 requests a pause and SIGUSR2 its end.
void catch_pause_signals();

/// The last request since the last call: the others would have no effect.
[[nodiscard]] pause_request take_pause_request() noexcept;

/// A duration of the command line, which begins with the first call.
class deadline {
  public:
    /// Throws usage_error for an invalid duration. Without a duration it never passes.
    explicit deadline(const std::optional<std::string>& duration);

    [[nodiscard]] bool has_passed();

  private:
    std::optional<std::chrono::nanoseconds> duration_;
    std::optional<std::chrono::steady_clock::time_point> end_;
};

/// Returns a condition that is true after a stop request, or after the deadline. Throws
/// usage_error.
[[nodiscard]] std::function<bool()> make_stop_condition(const std::optional<std::string>& duration);

}  // namespace elog
