// SPDX-License-Identifier: MIT
#include "cli/pager.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <vector>

#include "platform/unique_fd.hpp"
#include "terminal/terminal.hpp"

namespace elog {
namespace {

using eventlog::core::unique_fd;

// less: exit if the text fits on the screen, keep colors, leave the text on the screen.
constexpr std::string_view default_variables[] = {"LESS=FRX", "LV=-c"};

// less then starts no shell or editor and opens no other file.
constexpr std::string_view restriction = "LESSSECURE=1";

// Set by sudo, pkexec and doas.
constexpr const char* variables_of_invoking_user[] = {"SUDO_UID", "PKEXEC_UID", "DOAS_USER"};

// Characters that only a shell interprets. A command without them is started directly, because a
// failure to start it is then known before anything is written.
constexpr std::string_view shell_characters = "|&;<>()$`\\\"'*?[#~=%{}!\n";

// A shell reads nothing of its standard input, so cat shows all of the text if the command is
// invalid or cannot be started. The trap keeps the shell waiting for a pager that handles SIGINT.
constexpr const char* shell_script = "trap : INT QUIT\n"
                                     "sh -n -c \"$1\" 2>/dev/null || exec cat\n"
                                     "sh -c \"$1\"\n"
                                     "case $? in 126|127) exec cat;; esac\n";

bool is_disabled = false;
pid_t pager = 0;
bool pages_errors = false;
int saved_output = -1;
int saved_errors = -1;

std::vector<std::string> words_of(const std::string& command) {
    if (command.find_first_of(shell_characters) != std::string::npos) {
        return {"sh", "-c", shell_script, "elog-pager", command};
    }
    std::vector<std::string> words;
    for (std::size_t begin = command.find_first_not_of(" \t"); begin != std::string::npos;) {
        const std::size_t end = command.find_first_of(" \t", begin);
        words.push_back(command.substr(begin, end - begin));
        begin = command.find_first_not_of(" \t", end);
    }
    return words;
}

/// A user may be permitted to run elog as root, but not a shell.
bool is_root_for_other_user() {
    return ::geteuid() == 0 &&
           std::any_of(std::begin(variables_of_invoking_user), std::end(variables_of_invoking_user),
                       [](const char* name) { return std::getenv(name); });
}

/// The environment with the defaults of variables that are not set. execve does not write to it.
std::vector<char*> pager_environment() {
    std::vector<char*> variables;
    for (char** each = ::environ; *each != nullptr; ++each) {
        variables.push_back(*each);
    }
    const auto add_default = [&](std::string_view variable) {
        const std::string name(variable.substr(0, variable.find('=')));
        if (std::getenv(name.c_str()) == nullptr) {
            variables.push_back(const_cast<char*>(variable.data()));
        }
    };
    std::for_each(std::begin(default_variables), std::end(default_variables), add_default);
    if (is_root_for_other_user()) {
        add_default(restriction);
    }
    variables.push_back(nullptr);
    return variables;
}

/// The process, which reads from `input`; nothing if it cannot be started.
std::optional<pid_t> spawn(const std::string& command, int input) {
    std::vector<std::string> words = words_of(command);
    if (words.empty()) {
        return std::nullopt;
    }
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions{};
    posix_spawnattr_t attributes{};
    if (::posix_spawn_file_actions_init(&actions) != 0) {
        return std::nullopt;
    }
    if (::posix_spawnattr_init(&attributes) != 0) {
        ::posix_spawn_file_actions_destroy(&actions);
        return std::nullopt;
    }
    // elog ignores these; an ignored signal would stay ignored.
    sigset_t restored{};
    sigemptyset(&restored);
    sigaddset(&restored, SIGPIPE);
    sigaddset(&restored, SIGXFSZ);
    pid_t started = 0;
    const bool is_started =
        ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) == 0 &&
        ::posix_spawnattr_setsigdefault(&attributes, &restored) == 0 &&
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF) == 0 &&
        ::posix_spawnp(&started, arguments.front(), &actions, &attributes, arguments.data(),
                       pager_environment().data()) == 0;
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    return is_started ? std::optional(started) : std::nullopt;
}

/// Async-signal-safe.
void await_pager() noexcept {
    while (::waitpid(pager, nullptr, 0) < 0 && errno == EINTR) {
    }
}

extern "C" void end_with_pager(int signal) {
    ::close(STDOUT_FILENO);
    if (pages_errors) {
        ::close(STDERR_FILENO);
    }
    await_pager();
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

/// Restores the descriptors, which ends the pager's input, for messages of sanitizers after it.
extern "C" void finish_pager() {
    if (pager == 0) {
        return;  // it could not be started
    }
    static_cast<void>(::dup2(saved_output, STDOUT_FILENO));
    if (pages_errors) {
        static_cast<void>(::dup2(saved_errors, STDERR_FILENO));
    }
    await_pager();
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
    if (is_disabled || pager != 0 || ::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1 ||
        !has_capable_terminal()) {
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
    if (saved_output < 0 || saved_errors < 0 || std::atexit(finish_pager) != 0) {
        return;
    }
    const std::optional<pid_t> started = spawn(*command, input.get());
    if (!started) {
        return;
    }
    pager = *started;
    pages_errors = ::isatty(STDERR_FILENO) == 1;
    install_handlers();
    set_pager_style(style);
    static_cast<void>(::dup2(output.get(), STDOUT_FILENO));
    if (pages_errors) {
        static_cast<void>(::dup2(output.get(), STDERR_FILENO));
    }
}

}  // namespace elog
