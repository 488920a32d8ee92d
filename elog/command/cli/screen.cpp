// SPDX-License-Identifier: MIT
#include "cli/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "base/user_error.hpp"
#include "cli/stop_signal.hpp"
#include "terminal/terminal.hpp"
#include "text/character_locale.hpp"

namespace elog {
namespace {

// Switch to the alternate screen without a cursor, and back.
constexpr std::string_view enter_sequence = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view leave_sequence = "\x1b[0m\x1b[?25h\x1b[?1049l";

// Number of reads without further bytes, every 10 ms, after which a single escape byte is the
// Escape key.
constexpr unsigned waits_max = 5;

std::atomic<bool> was_resized{false};
std::atomic<bool> stop_pending{false};
std::atomic<bool> quit_pending{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void note_signal(int signal) {
    (signal == SIGWINCH  ? was_resized
     : signal == SIGTSTP ? stop_pending
                         : quit_pending)
        .store(true, std::memory_order_relaxed);
}

/// An ignored signal stays ignored.
void handle(int signal, void (*handler)(int)) {
    struct sigaction before {};
    struct sigaction action {};
    action.sa_handler = handler;
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
        static_cast<void>(::sigaction(signal, &action, nullptr));
    }
}

/// Writes a frame in one call, so that the terminal does not draw half of it. Gives up after a stop
/// request, because a stopped terminal blocks the write.
void write_once(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (stop_requested().count != 0) {
            return;
        } else if (errno != EINTR) {
            throw user_error("Writing to the terminal failed ({}). Start elog top on another one.",
                             std::strerror(errno));
        }
    }
}

}  // namespace

screen::screen() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) {
        throw user_error("Standard input is no terminal, from which keys are read ({}). Start elog "
                         "top without redirecting it.",
                         std::strerror(errno));
    }
    for (const int signal : {SIGWINCH, SIGTSTP, SIGQUIT}) {
        handle(signal, note_signal);
    }
    try {
        take_terminal();
    } catch (...) {
        restore_terminal();
        throw;
    }
}

screen::~screen() {
    restore_terminal();
}

void screen::take_terminal() {
    termios raw = before_;
    // ISIG stays set: Ctrl-C and Ctrl-Z send their signals.
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
    raw.c_iflag &= ~static_cast<tcflag_t>(IXON);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    taken_ = true;
    if (::tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) != 0) {
        throw user_error("The terminal cannot be set up for single keys ({}). Use another "
                         "terminal, or --iterations.",
                         std::strerror(errno));
    }
    write_once(enter_sequence);
}

void screen::restore_terminal() noexcept {
    if (!taken_) {
        return;
    }
    taken_ = false;
    // Errors are ignored: a closed terminal needs no restoration.
    static_cast<void>(::write(STDOUT_FILENO, leave_sequence.data(), leave_sequence.size()));
    static_cast<void>(::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_));
}

void screen::stop_until_continued() {
    restore_terminal();
    static_cast<void>(std::signal(SIGTSTP, SIG_DFL));
    static_cast<void>(std::raise(SIGTSTP));
    // The process has been continued.
    handle(SIGTSTP, note_signal);
    take_terminal();
    was_resized.store(true, std::memory_order_relaxed);
}

frame_style screen::style() const {
    const terminal_style terminal = style_of(STDOUT_FILENO);
    frame_style style;
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 && size.ws_row != 0) {
        style.columns = size.ws_col;
        style.rows = size.ws_row;
    }
    style.has_colours = terminal.has_colours;
    style.has_blocks = character_locale().is_utf8();
    return style;
}

std::vector<key> screen::read_keys() {
    if (stop_pending.exchange(false, std::memory_order_relaxed)) {
        stop_until_continued();
    }
    std::array<char, 256> bytes{};
    const ssize_t size = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (size > 0) {
        waited_ = 0;
        return decoder_.take({bytes.data(), static_cast<std::size_t>(size)});
    }
    if (size < 0 && errno != EINTR && errno != EAGAIN) {
        quit_pending.store(true, std::memory_order_relaxed);  // the terminal is closed
    }
    if (decoder_.has_pending_bytes() && ++waited_ >= waits_max) {
        waited_ = 0;
        const std::optional<key> alone = decoder_.finish_sequence();
        return alone ? std::vector{*alone} : std::vector<key>{};
    }
    return {};
}

bool screen::needs_redraw() {
    return was_resized.exchange(false, std::memory_order_relaxed);
}

bool screen::should_end() const noexcept {
    return quit_pending.load(std::memory_order_relaxed);
}

void screen::show(const std::vector<frame_line>& lines) {
    std::string frame = "\x1b[H";
    const char* separator = "";
    for (const frame_line& line : lines) {
        // After a full line the cursor is still in the last column, where erasing would remove a
        // character.
        frame += separator + line.text() + (line.left() == 0 ? "" : "\x1b[K");
        separator = "\r\n";
    }
    write_once(frame + "\x1b[J");
}

}  // namespace elog
