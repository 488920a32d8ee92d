// SPDX-License-Identifier: MIT
//
// Emits four events by a clock of its own: one at its beginning, one a minute later, one half a
// minute after the first, one by the machine's clock again. Then it waits until its input ends.
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
    eventlog::use_machine_clock();
    simulation::emit(step{3});
    while (std::getchar() != EOF) {
    }
}
