// SPDX-License-Identifier: MIT
//
// The whole terminal, while a command has it: keys come one by one and unseen, and what stood there
// before comes back when it is over, however that happens. One at a time; one thread.
#pragma once

#include <termios.h>

#include <cstddef>
#include <string>
#include <vector>

#include "terminal/frame_line.hpp"
#include "terminal/terminal_key_decoder.hpp"

namespace elog {

class screen {
  public:
    /// Takes the terminal of standard input and output. Throws failure if one of them is none.
    /// SIGQUIT, SIGTSTP, SIGCONT and SIGWINCH are ours from then on.
    screen();
    ~screen();
    screen(const screen&) = delete;
    screen& operator=(const screen&) = delete;

    /// How large it is now, and what it can show.
    [[nodiscard]] frame_style style() const;

    /// Keys that have been pressed. Does not wait. Stops the process, if that was asked for, until
    /// it is to go on.
    [[nodiscard]] std::vector<key> read_keys();

    /// Whether what is shown has to be drawn anew: the size has changed, or the process was
    /// stopped. True once each time.
    [[nodiscard]] bool needs_redraw();
    /// Somebody wants us to end, other than by stop_signal.
    [[nodiscard]] bool should_end() const noexcept;

    /// Shows these lines, in one write. Throws failure.
    void show(const std::vector<frame_line>& lines);

  private:
    void take_terminal();
    void restore_terminal() noexcept;
    void stop_until_continued();

    termios before_{};
    bool taken_ = false;
    terminal_key_decoder decoder_;
    unsigned waited_ = 0;  // calls without the rest of a key
};

}  // namespace elog
