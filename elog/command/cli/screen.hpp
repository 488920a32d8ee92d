// SPDX-License-Identifier: MIT
//
// Full-screen use of the terminal: keys arrive one by one without echo, and the destructor restores
// the previous screen.
//
// There is one instance at a time, used by one thread.
#pragma once

#include <termios.h>

#include <vector>

#include "terminal/frame_line.hpp"
#include "terminal/terminal_key_decoder.hpp"

namespace elog {

class screen {
  public:
    /// Uses the terminal of standard input and output. Throws user_error if one of them is not a
    /// terminal. From then on SIGQUIT, SIGTSTP, SIGCONT and SIGWINCH belong to this class.
    screen();
    ~screen();
    screen(const screen&) = delete;
    screen& operator=(const screen&) = delete;

    /// Its current size and abilities.
    [[nodiscard]] frame_style style() const;

    /// The keys pressed since the last call. Does not wait. If a stop was requested (Ctrl-Z), stops
    /// the process and returns after it has been continued.
    [[nodiscard]] std::vector<key> read_keys();

    /// Whether the frame has to be drawn again because the size has changed or the process was
    /// stopped. True once for each cause.
    [[nodiscard]] bool needs_redraw();
    /// Whether the command should end for another reason than a stop_signal: SIGQUIT or a closed
    /// terminal.
    [[nodiscard]] bool should_end() const noexcept;

    /// Shows these lines in one write. Throws user_error.
    void show(const std::vector<frame_line>& lines);

  private:
    void take_terminal();
    void restore_terminal() noexcept;
    void stop_until_continued();

    termios before_{};
    bool taken_ = false;
    terminal_key_decoder decoder_;
    unsigned waited_ = 0;  // calls without the remaining bytes of a key
};

}  // namespace elog
