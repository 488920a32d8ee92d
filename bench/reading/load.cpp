// SPDX-License-Identifier: MIT
//
// Emits events at a steady rate on several CPUs, for the benchmarks of readers.
//
//     load EVENTS RATE CPUS
//
// Emits one event, then EVENTS on each CPU, RATE a second. Prints the total and the seconds, which
// are more than intended if the CPUs are too slow.
#include <pthread.h>
#include <sched.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <eventlog/eventlog.hpp>

namespace {

using std::chrono::steady_clock;

struct retransmission {
    std::uint64_t sequence;
    std::uint32_t bytes;
    std::uint32_t window;
    std::string_view reason;
};
using load = eventlog::provider<"load", retransmission>;

// Twelve characters each, as in the benchmark emit.
constexpr std::array<std::string_view, 4> reasons{"lost_segment", "late_segment", "dup_segments",
                                                  "peer_silence"};

constexpr std::chrono::seconds patience{10};

/// Emits in portions with pauses, as a program with other work does.
constexpr std::chrono::microseconds interval{500};

struct share {
    std::uint64_t events;
    std::uint64_t rate;
    std::size_t cpu;
};

void stay_on(std::size_t cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    static_cast<void>(::pthread_setaffinity_np(::pthread_self(), sizeof set, &set));
}

void emit_share(const share& mine) {
    stay_on(mine.cpu);
    const auto begin = steady_clock::now();
    std::uint64_t emitted = 0;
    while (emitted < mine.events) {
        const std::chrono::duration<double> passed = steady_clock::now() - begin + interval;
        const double all = passed.count() * static_cast<double>(mine.rate);
        const std::uint64_t due =
            all < static_cast<double>(mine.events) ? static_cast<std::uint64_t>(all) : mine.events;
        for (; emitted < due; ++emitted) {
            load::emit(retransmission{emitted, static_cast<std::uint32_t>(emitted % 1448),
                                      static_cast<std::uint32_t>(mine.cpu),
                                      reasons[emitted % reasons.size()]});
        }
        std::this_thread::sleep_for(interval);
    }
}

bool wait_for_listener() {
    const auto end = steady_clock::now() + patience;
    while (!load::enabled<retransmission>()) {
        if (steady_clock::now() > end) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return true;
}

}  // namespace

int main(int count, char** words) {
    if (count != 4) {
        fmt::print(stderr, "usage: load EVENTS RATE CPUS\n");
        return 2;
    }
    const std::uint64_t events = std::strtoull(words[1], nullptr, 10);
    const std::uint64_t rate = std::strtoull(words[2], nullptr, 10);
    const std::size_t cpus = std::strtoull(words[3], nullptr, 10);
    if (!wait_for_listener()) {
        fmt::print(stderr, "load: load:retransmission has no listener.\n");
        return 1;
    }
    // Attaches. Until then, events of other threads have no subscription.
    load::emit(retransmission{0, 0, 0, reasons[0]});
    const auto begin = steady_clock::now();
    std::vector<std::thread> threads;
    for (std::size_t cpu = 0; cpu < cpus; ++cpu) {
        threads.emplace_back(emit_share, share{events, rate, cpu});
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const std::chrono::duration<double> took = steady_clock::now() - begin;
    fmt::print("{} {:.6f}\n", events * cpus + 1, took.count());
    return 0;
}
