// SPDX-License-Identifier: MIT
//
// Emits one event, then starts itself again in one of the usual ways, with a number that is one
// less, until 0; prints the processes. Before it continues, each waits until its FILE exists, if it
// has one; the next process has the next FILE.
//
//     process_chain exec|spawn|vfork NUMBER [FILE...]
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <eventlog/eventlog.hpp>

namespace {

struct reign {
    std::uint32_t number;
    std::uint32_t process;
};
using successor = eventlog::provider<"successor", reign>;

int wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    // The parent continues, and emits while its child runs and afterwards.
    successor::emit(reign{1000, static_cast<std::uint32_t>(::getpid())});
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int start(std::string_view manner, char** command) {
    if (manner == "exec") {
        ::execv("/proc/self/exe", command);
        return 1;
    }
    if (manner == "spawn") {
        pid_t child = 0;
        return ::posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, command, environ) == 0
                   ? wait_for(child)
                   : 1;
    }
    const pid_t child = ::vfork();
    if (child == 0) {
        ::execv("/proc/self/exe", command);
        ::_exit(1);
    }
    return child < 0 ? 1 : wait_for(child);
}

}  // namespace

int main(int argument_count, char** arguments) {
    if (argument_count < 3) {
        std::fputs("usage: process_chain exec|spawn|vfork NUMBER [FILE...]\n", stderr);
        return 2;
    }
    const auto number = static_cast<std::uint32_t>(std::strtoul(arguments[2], nullptr, 10));
    successor::emit(reign{number, static_cast<std::uint32_t>(::getpid())});
    std::printf("%u %d\n", number, ::getpid());
    std::fflush(stdout);
    while (argument_count > 3 && ::access(arguments[3], F_OK) != 0) {
        ::usleep(1000);
    }
    if (number == 0) {
        return 0;
    }
    std::string next = std::to_string(number - 1);
    std::vector<char*> command{arguments[0], arguments[1], next.data()};
    for (int i = 4; i <= argument_count; ++i) {
        command.push_back(arguments[i]);  // the last one is the null pointer
    }
    if (argument_count == 3) {
        command.push_back(nullptr);
    }
    return start(arguments[1], command.data());
}
