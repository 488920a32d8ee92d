// SPDX-License-Identifier: MIT
//
// Emits a known number of events from several threads, each with its thread, its number and a
// checksum, and prints the number of attempted events.
//
//     counter THREADS EVENTS [PAUSE_US]      EVENTS 0: until killed
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <latch>
#include <string_view>
#include <thread>
#include <vector>

#include <eventlog/eventlog.hpp>

#include "ring_turn.hpp"

namespace {

struct count {
    std::uint64_t number;
    std::uint64_t check;
    std::uint32_t worker;
    std::string_view text;
};
using counter = eventlog::provider<"counter", count>;

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";

void emit(const count& event) {
    const ring_turn turn;
    counter::emit(event);
}

void run(std::latch& start, std::uint32_t worker, std::uint64_t events,
         std::chrono::microseconds pause) {
    start.arrive_and_wait();
    for (std::uint64_t i = 0; events == 0 || i < events; ++i) {
        emit(count{i, (i + worker) * 0x9e3779b97f4a7c15U, worker,
                   letters.substr(0, i % letters.size())});
        if (pause.count() != 0) {
            std::this_thread::sleep_for(pause);
        }
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    if (argument_count < 3) {
        std::fputs("usage: counter THREADS EVENTS [PAUSE_US]\n", stderr);
        return 2;
    }
    const auto threads = static_cast<std::uint32_t>(std::strtoul(arguments[1], nullptr, 10));
    const std::uint64_t events = std::strtoull(arguments[2], nullptr, 10);
    const std::chrono::microseconds pause(
        argument_count > 3 ? std::strtol(arguments[3], nullptr, 10) : 0);
    std::latch start(threads);
    std::vector<std::thread> workers;
    for (std::uint32_t worker = 0; worker < threads; ++worker) {
        workers.emplace_back(run, std::ref(start), worker, events, pause);
    }
    for (std::thread& worker : workers) {
        worker.join();
    }
    std::printf("attempted %" PRIu64 "\n", threads * events);
}
