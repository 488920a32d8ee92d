// SPDX-License-Identifier: MIT
#include "cli/pager_process.hpp"

#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <vector>

namespace elog {
namespace {

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
                                     "status=$?\n"
                                     "case $status in 126|127) exec cat;; esac\n"
                                     "exit $status\n";

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

}  // namespace

std::optional<pid_t> spawn_pager(const std::string& command, int input, const sigset_t& mask) {
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
        ::posix_spawnattr_setsigmask(&attributes, &mask) == 0 &&
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK) ==
            0 &&
        ::posix_spawnp(&started, arguments.front(), &actions, &attributes, arguments.data(),
                       pager_environment().data()) == 0;
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    return is_started ? std::optional(started) : std::nullopt;
}

}  // namespace elog
