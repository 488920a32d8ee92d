// SPDX-License-Identifier: MIT
//
// Shows the progress of long work in a line on standard error, and erases it at the end.
//
// The line is erased before any other message (diagnostics.hpp) and by signals that end the
// process. One progress_line at a time, used by one thread.
#pragma once

#include <chrono>
#include <string_view>

namespace elog {

/// What the command writes to standard output during the work.
enum class concurrent_output {
    nothing,
    records,  // would mix with the line if standard output is the same terminal
};

class progress_line {
  public:
    explicit progress_line(concurrent_output output);
    ~progress_line();
    progress_line(const progress_line&) = delete;
    progress_line& operator=(const progress_line&) = delete;

    /// Whether to draw now. Never with --quiet, if standard error is no terminal, or if records may
    /// be shown on one. Not during the first half second, nor in a background job. Else a few times
    /// a second.
    [[nodiscard]] bool is_due() noexcept;

    /// Draws the text, cut to the terminal's width.
    void draw(std::string_view text);

    [[nodiscard]] std::chrono::duration<double> elapsed() const noexcept;

  private:
    // Test override EVENTLOG_TEST_PROGRESS_MS: with 0 even short work shows the line, with an hour
    // no work does.
    std::chrono::milliseconds initial_delay_;
    std::chrono::milliseconds interval_;
    bool is_enabled_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point due_;
};

/// Erases the line if it is shown. Call before other text is written to standard error.
/// Async-signal-safe.
void erase_progress() noexcept;

}  // namespace elog
