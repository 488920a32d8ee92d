// SPDX-License-Identifier: MIT
//
// Emits and ends: threads that end right after one event, or a process that does.
//
//     short_lived threads COUNT      so many threads, a few at a time
//     short_lived exit COUNT         so many events, then _exit
//
// Prints the number of attempted events.
#include <unistd.h>

#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <eventlog/eventlog.hpp>

namespace {

struct life {
    std::uint64_t number;
    std::uint64_t check;
};
using short_lived = eventlog::provider<"short_lived", life>;

void live(std::uint64_t number) {
    short_lived::emit(life{number, number * 0x9e3779b97f4a7c15U});
}

void run_threads(std::uint64_t count) {
    std::array<std::thread, 8> threads;
    for (std::uint64_t number = 0; number < count; ++number) {
        std::thread& place = threads[number % threads.size()];
        if (place.joinable()) {
            place.join();
        }
        place = std::thread(live, number);
    }
    for (std::thread& thread : threads) {
        if (thread.joinable()) {
            thread.join();
        }
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    if (argument_count != 3) {
        std::fputs("usage: short_lived threads|exit COUNT\n", stderr);
        return 2;
    }
    const std::string_view manner = arguments[1];
    const std::uint64_t count = std::strtoull(arguments[2], nullptr, 10);
    if (manner == "threads") {
        run_threads(count);
        std::printf("attempted %" PRIu64 "\n", count);
        return 0;
    }
    std::printf("attempted %" PRIu64 "\n", count);
    std::fflush(stdout);
    for (std::uint64_t number = 0; number < count; ++number) {
        live(number);
    }
    ::_exit(0);
}
