// SPDX-License-Identifier: MIT
//
// A simulation whose events have simulated time: a lift serves a house for an hour, which takes a
// moment.
//
//     ./simulation [MINUTES]
//
// Record it and read the recording:
//
//     elog record -e lift -o hour.elog -- ./simulation
//     elog print hour.elog --delta
//     elog print hour.elog --since +30m --until +40m
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>

#include <eventlog/eventlog.hpp>

namespace {

/// A clock that the simulation advances. While an event is emitted, any emitting thread may call
/// now().
struct simulated_clock {
    using duration = std::chrono::milliseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<simulated_clock>;

    static time_point now() noexcept { return time_point(duration(passed)); }
    static void pass(duration some) noexcept { passed += some.count(); }

    static std::atomic<rep> passed;
};
std::atomic<simulated_clock::rep> simulated_clock::passed{0};

struct called {
    std::uint32_t floor;
};
struct arrived {
    std::uint32_t floor;
    std::chrono::milliseconds waited;
};
using lift = eventlog::provider<"lift", called, arrived>;

}  // namespace

int main(int argument_count, char** arguments) {
    const int minutes = argument_count > 1 ? std::atoi(arguments[1]) : 60;
    eventlog::set_clock<simulated_clock>();
    std::uint32_t floor = 0;
    for (int minute = 0; minute < minutes; ++minute) {
        const auto next = static_cast<std::uint32_t>(minute * 7 % 12);
        lift::emit(called{next});
        const std::uint32_t floors = next > floor ? next - floor : floor - next;
        const std::chrono::milliseconds ride(1500 * floors);
        simulated_clock::pass(ride);
        lift::emit(arrived{next, ride});
        simulated_clock::pass(std::chrono::minutes(1) - ride);
        floor = next;
    }
}
