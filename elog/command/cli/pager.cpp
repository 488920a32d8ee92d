// SPDX-License-Identifier: MIT
#include "cli/pager.hpp"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "cli/pager_feeder.hpp"
#include "platform/unique_fd.hpp"
#include "terminal/diagnostics.hpp"
#include "terminal/terminal.hpp"

namespace elog {
namespace {

using eventlog::core::unique_fd;

bool is_disabled = false;
pid_t feeder_pid = 0;
bool pages_errors = false;
int saved_output = -1;
int saved_errors = -1;

/// Returns the status of the feeder. Async-signal-safe.
int await_pager() noexcept {
    int status = 0;
    while (::waitpid(feeder_pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

extern "C" void end_with_pager(int signal) {
    ::close(STDOUT_FILENO);
    if (pages_errors) {
        ::close(STDERR_FILENO);
    }
    static_cast<void>(await_pager());
    static_cast<void>(std::raise(signal));  // SA_RESETHAND has restored the default action
}

/// Signals that are ignored or handled keep their action.
void install_handlers() noexcept {
    struct sigaction action {};
    action.sa_handler = end_with_pager;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        struct sigaction before {};
        if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_DFL) {
            static_cast<void>(::sigaction(signal, &action, nullptr));
        }
    }
}

extern "C" void finish_at_exit() {
    static_cast<void>(finish_pager(EXIT_SUCCESS));
}

}  // namespace

std::optional<std::string> find_pager() {
    const char* command = std::getenv("ELOG_PAGER");
    if (command == nullptr) {
        command = std::getenv("PAGER");
    }
    const std::string_view text = command == nullptr ? "less" : command;
    const bool is_none = text.find_first_not_of(" \t") == std::string_view::npos || text == "cat";
    const bool is_privileged = ::getauxval(AT_SECURE) != 0;
    return is_none || is_privileged ? std::nullopt : std::optional<std::string>(text);
}

void disable_pager() noexcept {
    is_disabled = true;
}

void start_pager() {
    if (is_disabled || feeder_pid != 0 || ::isatty(STDIN_FILENO) != 1 ||
        ::isatty(STDOUT_FILENO) != 1 || !has_capable_terminal()) {
        return;
    }
    const std::optional<std::string> command = find_pager();
    std::array<int, 2> ends{};
    if (!command || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return;
    }
    const unique_fd input(ends[0]);
    const unique_fd output(ends[1]);
    const terminal_style style = style_of(STDOUT_FILENO);
    saved_output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    saved_errors = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (saved_output < 0 || saved_errors < 0 || std::atexit(finish_at_exit) != 0) {
        return;
    }
    const std::optional<pid_t> started = start_pager_feeder(*command, input.get(), output.get());
    if (!started) {
        return;
    }
    feeder_pid = *started;
    pages_errors = ::isatty(STDERR_FILENO) == 1;
    install_handlers();
    set_pager_style(style);
    static_cast<void>(::dup2(output.get(), STDOUT_FILENO));
    if (pages_errors) {
        static_cast<void>(::dup2(output.get(), STDERR_FILENO));
    }
}

int finish_pager(int status) {
    if (feeder_pid == 0) {
        return status;  // not started, or finished
    }
    // The end of the pager's input. Later messages, also of sanitizers, go to the terminal.
    static_cast<void>(::dup2(saved_output, STDOUT_FILENO));
    if (pages_errors) {
        static_cast<void>(::dup2(saved_errors, STDERR_FILENO));
    }
    const int ended = await_pager();
    feeder_pid = 0;
    if (WIFSIGNALED(ended)) {
        print_diagnostic(
            "elog: The process that feeds the pager was ended by signal {}: the output "
            "may be incomplete. Use --no-pager.",
            WTERMSIG(ended));
    }
    return status == EXIT_SUCCESS && ended != 0 ? EXIT_FAILURE : status;
}

}  // namespace elog
