// SPDX-License-Identifier: MIT
#include "terminal/progress_line.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/test_override.hpp"
#include "terminal/diagnostics.hpp"
#include "terminal/frame_line.hpp"
#include "terminal/terminal.hpp"
#include "text/character_locale.hpp"

namespace elog {
namespace {

using std::chrono::steady_clock;

constexpr std::uint64_t default_initial_delay = 500;  // milliseconds
constexpr std::chrono::milliseconds default_interval{200};
constexpr std::string_view erase_sequence = "\r\x1b[K";
constexpr std::size_t default_width = 80;

std::atomic<bool> is_drawn{false};
static_assert(std::atomic<bool>::is_always_lock_free);

/// A terminal that is stopped, for example by Ctrl-S, would block the work and its end.
bool takes_text() noexcept {
    pollfd terminal{STDERR_FILENO, POLLOUT, 0};
    return ::poll(&terminal, 1, 0) == 1 && (terminal.revents & POLLOUT) != 0;
}

void write_to_terminal(std::string_view text) noexcept {
    // Errors do not matter: the terminal is closed.
    static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
}

/// Standard output does not reach the terminal. A pipe may: its reader can show the text there.
bool is_file(int descriptor) noexcept {
    struct stat status {};
    return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

/// A shell has given the terminal to another job, in which its user types. Not known for a terminal
/// that does not control this process.
bool is_in_background() noexcept {
    const pid_t owner = ::tcgetpgrp(STDERR_FILENO);
    return owner >= 0 && owner != ::getpgrp();
}

extern "C" void erase_and_reraise(int signal) {
    const int error = errno;
    erase_progress();
    errno = error;
    static_cast<void>(std::raise(signal));  // SA_RESETHAND has restored the default action
}

/// Erases the line when a signal ends the process. Signals that are ignored or handled keep their
/// action.
void install_end_handlers() noexcept {
    struct sigaction action {};
    action.sa_handler = erase_and_reraise;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        struct sigaction before {};
        if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_DFL) {
            static_cast<void>(::sigaction(signal, &action, nullptr));
        }
    }
}

}  // namespace

void erase_progress() noexcept {
    if (is_drawn.exchange(false, std::memory_order_relaxed) && takes_text()) {
        write_to_terminal(erase_sequence);
    }
}

progress_line::progress_line(concurrent_output output)
    : initial_delay_(
          test_override("EVENTLOG_TEST_PROGRESS_MS", default_initial_delay, 0, 3'600'000)),
      interval_(std::min(initial_delay_, default_interval)),
      is_enabled_(!is_quiet() && ::isatty(STDERR_FILENO) == 1 && has_capable_terminal() &&
                  (output == concurrent_output::nothing || is_file(STDOUT_FILENO))),
      due_(begin_ + initial_delay_) {}

progress_line::~progress_line() {
    erase_progress();
}

bool progress_line::is_due() noexcept {
    if (!is_enabled_ || steady_clock::now() < due_) {
        return false;
    }
    const bool is_elsewhere = is_in_background();
    if (is_elsewhere) {
        is_drawn.store(false, std::memory_order_relaxed);  // the other job's text has moved it
    }
    if (is_elsewhere || !takes_text()) {
        due_ = steady_clock::now() + interval_;
        return false;
    }
    return true;
}

void progress_line::draw(std::string_view text) {
    frame_style style;
    // Some terminals wrap behind the last column.
    style.columns = terminal_width(STDERR_FILENO).value_or(default_width) - 1;
    style.has_blocks = character_locale().is_utf8();
    frame_line line(style);
    line.add(text);
    install_end_handlers();
    is_drawn.store(true, std::memory_order_relaxed);
    // With one write, so that no other text splits it.
    write_to_terminal("\r" + line.text() + "\x1b[K");
    due_ = steady_clock::now() + interval_;
}

std::chrono::duration<double> progress_line::elapsed() const noexcept {
    return steady_clock::now() - begin_;
}

}  // namespace elog
