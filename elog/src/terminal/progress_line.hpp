// SPDX-License-Identifier: MIT
//
// A line on standard error that says how far long work is. It is drawn again and again, and gone
// when the work is over.
#pragma once

#include <chrono>
#include <string_view>

namespace elog {

/// What goes to standard output while the work goes on.
enum class concurrent_output {
    nothing,
    records,  // which would stand in the line, if they come to the same terminal
};

/// One at a time; one thread.
class progress_line {
  public:
    explicit progress_line(concurrent_output output);
    ~progress_line();
    progress_line(const progress_line&) = delete;
    progress_line& operator=(const progress_line&) = delete;

    /// Whether to draw it now. Never, if standard error is no terminal, or records may come to one;
    /// not before the work has taken half a second, nor in the background; else a few times a
    /// second.
    [[nodiscard]] bool is_due() noexcept;

    /// Our own text, of which only what the terminal's width has room for is shown.
    void draw(std::string_view text);

    [[nodiscard]] std::chrono::duration<double> elapsed() const noexcept;

  private:
    // Of EVENTLOG_TEST_PROGRESS_MS, if it is set: a test with 0 sees the line of the shortest work,
    // and with an hour none of the longest.
    std::chrono::milliseconds initial_delay_;
    std::chrono::milliseconds interval_;
    bool is_enabled_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point due_;
};

/// Before anything else is written to standard error: takes the line away, if there is one.
void erase_progress() noexcept;

}  // namespace elog
