// SPDX-License-Identifier: MIT
//
// THREADS COUNT: each thread emits COUNT events in batches when standard input ends. Prints the
// counters of the route.
#include <unistd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <eventlog/eventlog.hpp>

namespace {

struct step {
    std::uint64_t number;
    std::uint32_t thread;
    std::uint32_t padding;
};
using burst = eventlog::provider<"burst", step>;

void emit_batched(std::uint32_t thread, std::uint64_t count) {
    const eventlog::kernel_batch batch;
    for (std::uint64_t number = 0; number < count; ++number) {
        burst::emit(step{number, thread, 0});
    }
}

void wait_for_end_of_input() {
    char byte = 0;
    while (::read(STDIN_FILENO, &byte, 1) > 0) {
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        return 2;
    }
    wait_for_end_of_input();
    const auto threads = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
    const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);
    std::vector<std::thread> all;
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
        all.emplace_back(emit_batched, thread, count);
    }
    for (std::thread& each : all) {
        each.join();
    }
    const eventlog_counters counters = burst::status().routes[EVENTLOG_ROUTE_USER_EVENTS].counters;
    std::printf("written %" PRIu64 " refused %" PRIu64 " unattached %" PRIu64 "\n",
                counters.written, counters.lost_refused, counters.lost_unattached);
    return 0;
}
