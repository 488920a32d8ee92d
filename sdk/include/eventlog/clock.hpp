// SPDX-License-Identifier: MIT
//
// Timing events by a clock of the program's own.
#pragma once

#include <cstdint>
#include <type_traits>

#include <eventlog/abi.h>

namespace eventlog {

/// From now on the events of this process are timed by a clock as <chrono> has them, that counts
/// with an integer of 64 bits a whole part of a second: the time of a simulation, for example. Its
/// now() is called while an event is emitted: see eventlog_set_clock (abi.h) for what it may do.
/// Takes 10 ms; not from a signal handler.
template <class Clock>
[[gnu::visibility("hidden")]] void set_clock() noexcept {
    static_assert(Clock::period::num == 1 && Clock::period::den <= 10'000'000'000,
                  "eventlog: a clock's period is a whole part of a second, and at least 100 "
                  "picoseconds. Give eventlog_set_clock (eventlog/abi.h) one that is");
    static_assert(std::is_integral_v<typename Clock::rep> && sizeof(typename Clock::rep) == 8,
                  "eventlog: a clock counts with an integer of 64 bits. Give its duration "
                  "std::int64_t, or have eventlog_set_clock (eventlog/abi.h) unwrap a shorter one");
    const eventlog_clock_source source{sizeof(eventlog_clock_source), 64, Clock::period::den,
                                       [](void* /*context*/) {
                                           return static_cast<std::uint64_t>(
                                               Clock::now().time_since_epoch().count());
                                       },
                                       nullptr};
    static_cast<void>(eventlog_set_clock(&source));
}

/// By the machine's clock again.
[[gnu::visibility("hidden")]] inline void use_machine_clock() noexcept {
    static_cast<void>(eventlog_set_clock(nullptr));
}

}  // namespace eventlog
