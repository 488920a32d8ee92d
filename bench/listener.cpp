// SPDX-License-Identifier: MIT
#include "listener.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "failure.hpp"

namespace bench {
namespace {

constexpr std::chrono::seconds patience{30};

/// Waits for the condition. Returns false after a timeout.
bool wait_until(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return true;
}

}  // namespace

listener::listener(const listener_options& options, const std::function<bool()>& gate_is_open)
    : recording_(options.directory / (options.name + ".elog")),
      messages_(options.directory / (options.name + ".messages")) {
    // _Fork runs no fork handlers: the child becomes elog and has no providers to publish.
    process_ = ::_Fork();
    if (process_ == 0) {
        run(options);
    }
    if (process_ < 0) {
        throw failure("No process can be started for elog ({}).", std::strerror(errno));
    }
    running_ = true;
    const bool decided = wait_until([&] { return gate_is_open() || has_ended(); });
    if (!decided || !running_) {
        throw failure("'{} record' does not listen: {}", options.elog, last_words());
    }
}

listener::~listener() {
    if (running_) {
        static_cast<void>(::kill(process_, SIGKILL));
        static_cast<void>(::waitpid(process_, nullptr, 0));
    }
}

void listener::run(const listener_options& options) const {
    // The stopped child must not remain when this program is killed.
    static_cast<void>(::prctl(PR_SET_PDEATHSIG, SIGKILL));
    const int messages = ::open(messages_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (messages >= 0) {
        static_cast<void>(::dup2(messages, STDERR_FILENO));
    }
    std::vector<std::string> words{options.elog,    "record", "-e",
                                   options.pattern, "-o",     recording_.string()};
    if (!options.buffer_size.empty()) {
        words.insert(words.end(), {"--buffer-size", options.buffer_size});
    }
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    ::execv(options.elog.c_str(), arguments.data());
    std::perror("exec");
    ::_exit(127);
}

bool listener::has_ended() {
    if (running_ && ::waitpid(process_, &status_, WNOHANG) == process_) {
        running_ = false;
    }
    return !running_;
}

std::string listener::last_words() const {
    std::ifstream file(messages_);
    std::string last = "it says nothing.";
    for (std::string line; std::getline(file, line);) {
        last = line;
    }
    return last;
}

void listener::suspend() {
    int status = 0;
    if (::kill(process_, SIGSTOP) != 0 || ::waitpid(process_, &status, WUNTRACED) != process_ ||
        !WIFSTOPPED(status)) {
        running_ = running_ && WIFSTOPPED(status);
        throw failure("elog cannot be suspended: {}", last_words());
    }
}

listener_summary listener::stop() {
    static_cast<void>(::kill(process_, SIGCONT));
    static_cast<void>(::kill(process_, SIGTERM));
    if (!wait_until([&] { return has_ended(); })) {
        throw failure("elog does not end within {} s of SIGTERM.", patience.count());
    }
    std::ifstream file(messages_);
    for (std::string line; std::getline(file, line);) {
        listener_summary summary;
        if (std::sscanf(line.c_str(), "%" SCNu64 " events, %*u bytes, %" SCNu64 " lost",
                        &summary.events, &summary.lost) == 2) {
            std::error_code ignored;
            std::filesystem::remove(recording_, ignored);
            return summary;
        }
    }
    throw failure("elog has ended without a summary: {}", last_words());
}

}  // namespace bench
