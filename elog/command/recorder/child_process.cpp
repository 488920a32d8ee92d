// SPDX-License-Identifier: MIT
#include "recorder/child_process.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/user_error.hpp"

namespace elog {

void check_command(const std::string& name) {
    std::string_view folders;
    int reason = ENOENT;
    if (const char* path = std::getenv("PATH"); name.find('/') == std::string::npos) {
        folders = path != nullptr ? path : "/bin:/usr/bin";
    } else if (::access(name.c_str(), X_OK) == 0) {
        return;
    } else {
        reason = errno;
    }
    while (!folders.empty()) {
        const auto end = folders.find(':');
        const std::string_view folder = folders.substr(0, end);
        if (::access(fmt::format("{}/{}", folder.empty() ? "." : folder, name).c_str(), X_OK) ==
            0) {
            return;
        }
        folders.remove_prefix(end == std::string_view::npos ? folders.size() : end + 1);
    }
    throw user_error("The command '{}' cannot be started ({}). Check its name after '--'.", name,
                     reason == ENOENT ? "it does not exist" : std::strerror(reason));
}

child_process::child_process(const std::vector<std::string>& command, command_output output)
    : name_(command.front()) {
    std::vector<std::string> words = command;  // posix_spawnp takes pointers to char
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    // With SIGCHLD ignored, the exit status of the child would be lost.
    static_cast<void>(std::signal(SIGCHLD, SIG_DFL));
    // elog ignores these two; the child starts with their default actions.
    posix_spawnattr_t attributes;
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGXFSZ);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    int result = 0;
    if (output == command_output::to_standard_error) {
        result = ::posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    }
    if (result == 0) {
        result = ::posix_spawnp(&pid_, arguments.front(), &files, &attributes, arguments.data(),
                                environ);
    }
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
    if (result != 0) {
        throw user_error("The command '{}' cannot be started ({}). Check its name after '--'.",
                         name_, std::strerror(result));
    }
}

bool child_process::has_ended() {
    if (!ended_) {
        const pid_t result = ::waitpid(pid_, &status_, WNOHANG);
        ended_ = result == pid_ || (result < 0 && errno != EINTR);
    }
    return ended_;
}

void child_process::send(int signal) const noexcept {
    if (!ended_) {
        static_cast<void>(::kill(pid_, signal));
    }
}

std::optional<std::string> child_process::complaint() const {
    if (ended_ && WIFSIGNALED(status_)) {
        return fmt::format("'{}' was ended by signal {} ({}).", name_, WTERMSIG(status_),
                           ::strsignal(WTERMSIG(status_)));
    }
    if (ended_ && WIFEXITED(status_) && WEXITSTATUS(status_) != 0) {
        return fmt::format("'{}' ended with exit status {}.", name_, WEXITSTATUS(status_));
    }
    return std::nullopt;
}

int child_process::exit_status() const noexcept {
    constexpr int by_signal = 128;
    return WIFSIGNALED(status_) ? by_signal + WTERMSIG(status_) : WEXITSTATUS(status_);
}

}  // namespace elog
