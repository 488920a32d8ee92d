// SPDX-License-Identifier: MIT
//
// Closes every descriptor that it did not open, as daemons do, then emits one event for each line
// on standard input, and prints that.
//
//     daemonized LOG      the file for standard output and error
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <eventlog/eventlog.hpp>

namespace {

struct thought {
    std::uint32_t number;
    std::uint32_t descriptors;
};
using hermit = eventlog::provider<"hermit", thought>;

/// The number of open descriptors among the first hundred.
std::uint32_t count_descriptors() {
    std::uint32_t count = 0;
    for (int fd = 0; fd < 100; ++fd) {
        count += ::fcntl(fd, F_GETFD) >= 0 ? 1U : 0U;
    }
    return count;
}

}  // namespace

int main(int argument_count, char** arguments) {
    if (argument_count != 2) {
        std::fputs("usage: daemonized LOG\n", stderr);
        return 2;
    }
    if (::close_range(3, ~0U, 0) != 0) {
        std::perror("daemonized: close_range");
        return 1;
    }
    const int log = ::open(arguments[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0 || ::dup2(log, 1) < 0 || ::dup2(log, 2) < 0 || ::close(log) != 0) {
        return 1;
    }
    hermit::emit(thought{0, count_descriptors()});
    std::uint32_t number = 1;
    for (char byte = 0; ::read(0, &byte, 1) == 1;) {
        if (byte == '\n') {
            hermit::emit(thought{number, count_descriptors()});
            std::printf("emitted %u\n", number++);
            std::fflush(stdout);
        }
    }
}
