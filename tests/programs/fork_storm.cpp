// SPDX-License-Identifier: MIT
//
// A tree of processes. Each forks twice at its start, emits its events and ends without cleanup
// after its children.
//
//     fork_storm DEPTH EVENTS
//
// Prints the number of processes.
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <eventlog/eventlog.hpp>

namespace {

struct leaf {
    std::uint64_t process;  // position in the tree
    std::uint64_t number;
};
using storm = eventlog::provider<"storm", leaf>;

/// Returns whether the process and its children succeeded.
bool grow(std::uint64_t process, unsigned depth, std::uint64_t events) {
    pid_t children[2] = {};
    for (std::uint64_t i = 0; depth != 0 && i < 2; ++i) {
        children[i] = ::fork();
        if (children[i] == 0) {
            ::_exit(grow(2 * process + i, depth - 1, events) ? 0 : 1);
        }
    }
    for (std::uint64_t number = 0; number < events; ++number) {
        storm::emit(leaf{process, number});
    }
    bool is_well = true;
    for (const pid_t child : children) {
        int status = 0;
        is_well = is_well && (depth == 0 || (child > 0 && ::waitpid(child, &status, 0) == child &&
                                             WIFEXITED(status) && WEXITSTATUS(status) == 0));
    }
    return is_well;
}

}  // namespace

int main(int argument_count, char** arguments) {
    if (argument_count != 3) {
        std::fputs("usage: fork_storm DEPTH EVENTS\n", stderr);
        return 2;
    }
    const auto depth = static_cast<unsigned>(std::strtoul(arguments[1], nullptr, 10));
    if (!grow(1, depth, std::strtoull(arguments[2], nullptr, 10))) {
        std::fputs("fork_storm: a process could not be made, or went wrong\n", stderr);
        return 1;
    }
    std::printf("processes %" PRIu64 "\n", (std::uint64_t{2} << depth) - 1);
}
