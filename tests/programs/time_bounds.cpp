// SPDX-License-Identifier: MIT
//
// Emits events that contain the times of CLOCK_MONOTONIC and CLOCK_REALTIME before and after the
// previous event.
//
//     time_bounds [SECONDS]      2 by default
#include <time.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <thread>

#include <eventlog/eventlog.hpp>

namespace {

struct instant {
    std::uint64_t number;
    std::uint64_t monotonic_before;  // of the previous event, by number
    std::uint64_t monotonic_after;
    std::uint64_t realtime_before;
    std::uint64_t realtime_after;
};
using punctual = eventlog::provider<"punctual", instant>;

std::uint64_t now(clockid_t clock) {
    timespec read{};
    static_cast<void>(::clock_gettime(clock, &read));
    return static_cast<std::uint64_t>(read.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(read.tv_nsec);
}

}  // namespace

int main(int argument_count, char** arguments) {
    const int seconds = argument_count > 1 ? std::atoi(arguments[1]) : 2;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    instant next{};
    while (std::chrono::steady_clock::now() < end) {
        const instant current = next;
        next.realtime_before = now(CLOCK_REALTIME);
        next.monotonic_before = now(CLOCK_MONOTONIC);
        punctual::emit(current);
        next.monotonic_after = now(CLOCK_MONOTONIC);
        next.realtime_after = now(CLOCK_REALTIME);
        ++next.number;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}
