// SPDX-License-Identifier: MIT
//
// Emits four events: three by a custom clock, at its start, a minute later, and half a minute after
// the start, and one by the machine's clock. Then it waits for the end of its input.
#include <atomic>
#include <cstdint>
#include <cstdio>

#include <eventlog/eventlog.hpp>

namespace {

struct step {
    std::uint64_t number;
};
using simulation = eventlog::provider<"simulation", step>;

std::atomic<std::uint64_t> milliseconds{1000};

}  // namespace

int main() {
    const eventlog_clock_source source{sizeof(eventlog_clock_source), 64, 1000,
                                       [](void* /*context*/) { return milliseconds.load(); },
                                       nullptr};
    if (!eventlog_set_clock(&source)) {
        std::puts("custom_clock: the clock was refused");
        return 1;
    }
    simulation::emit(step{0});
    milliseconds += 60'000;
    simulation::emit(step{1});
    milliseconds -= 30'000;
    simulation::emit(step{2});
    eventlog::reset_clock();
    simulation::emit(step{3});
    while (std::getchar() != EOF) {
    }
}
