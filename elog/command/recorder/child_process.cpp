// SPDX-License-Identifier: MIT
#include "recorder/child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/user_error.hpp"
#include "platform/unique_fd.hpp"

namespace elog {

namespace {

[[noreturn]] void reject_command(const std::string& name, const std::string& reason) {
    throw user_error("The command '{}' cannot be started ({}). Check its name after '--'.", name,
                     reason);
}

/// The error of executing the file, as far as its kind and mode show one; otherwise 0.
int execution_error(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        return errno;
    }
    if (!S_ISREG(status.st_mode)) {
        return EACCES;  // as execve()
    }
    return ::access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

/// The interpreter that the first line of a script names; nothing for another file.
std::optional<std::string> interpreter_of(const std::string& path) {
    std::array<char, 256> begin{};  // as many bytes as the kernel examines
    const eventlog::core::unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    const ssize_t size = file ? ::read(file.get(), begin.data(), begin.size()) : 0;
    std::string_view text(begin.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    if (!text.starts_with("#!")) {
        return std::nullopt;
    }
    text.remove_prefix(std::min(text.find_first_not_of(" \t", 2), text.size()));
    return std::string(text.substr(0, text.find_first_of(std::string_view(" \t\n\0", 4))));
}

/// The interpreter of a script, if it cannot be executed.
std::optional<std::string> unusable_interpreter(const std::string& path) {
    std::optional<std::string> interpreter = interpreter_of(path);
    return interpreter && execution_error(*interpreter) != 0 ? interpreter : std::nullopt;
}

}  // namespace

void check_command(const std::string& name) {
    std::string_view folders;
    int reason = ENOENT;
    std::optional<std::string> unusable;
    if (const char* path = std::getenv("PATH"); name.find('/') == std::string::npos) {
        folders = path != nullptr ? path : "/bin:/usr/bin";
    } else if (reason = execution_error(name); reason == 0) {
        unusable = unusable_interpreter(name);
        if (!unusable) {
            return;
        }
    }
    while (!folders.empty()) {
        const auto end = folders.find(':');
        const std::string_view folder = folders.substr(0, end);
        const std::string path = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
        if (execution_error(path) == 0) {
            unusable = unusable_interpreter(path);
            if (!unusable) {
                return;
            }
        }
        folders.remove_prefix(end == std::string_view::npos ? folders.size() : end + 1);
    }
    if (unusable) {
        throw user_error("The command '{}' cannot be started (its interpreter '{}': {}). Correct "
                         "the first line of the file.",
                         name, *unusable, std::strerror(execution_error(*unusable)));
    }
    reject_command(name, reason == ENOENT ? "it does not exist" : std::strerror(reason));
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
        reject_command(name_, std::strerror(result));
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
