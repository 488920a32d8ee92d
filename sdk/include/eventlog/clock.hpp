// SPDX-License-Identifier: MIT
//
// eventlog::set_clock: times events by a custom clock.
#pragma once

#include <cstdint>
#include <type_traits>

#include <eventlog/abi.h>

namespace eventlog {
inline namespace v0 {

/// Sets the clock that times the events of this process: a clock as in <chrono> whose count is an
/// integer of 64 bits and whose period is a whole part of a second; for example, the time of a
/// simulation. Its now() is called while an event is emitted; eventlog_set_clock (abi.h) lists what
/// it may do. Takes 10 ms; not from a signal handler.
template <class Clock>
[[gnu::visibility("hidden")]] void set_clock() noexcept {
    static_assert(
        Clock::period::num == 1 && Clock::period::den <= 10'000'000'000,
        "eventlog: a clock's period must be a whole part of a second, and at least 100 "
        "picoseconds. Convert the time in a function for eventlog_set_clock (eventlog/abi.h).");
    static_assert(
        std::is_integral_v<typename Clock::rep> && sizeof(typename Clock::rep) == 8,
        "eventlog: a clock's count must be an integer of 64 bits. Use a duration of std::int64_t, "
        "or pass a shorter count to eventlog_set_clock (eventlog/abi.h), which unwraps it.");
    const eventlog_clock_source source{sizeof(eventlog_clock_source), 64, Clock::period::den,
                                       [](void* /*context*/) {
                                           return static_cast<std::uint64_t>(
                                               Clock::now().time_since_epoch().count());
                                       },
                                       nullptr};
    static_cast<void>(eventlog_set_clock(&source));
}

/// Restores the machine's clock.
[[gnu::visibility("hidden")]] inline void reset_clock() noexcept {
    static_cast<void>(eventlog_set_clock(nullptr));
}

}  // namespace v0
}  // namespace eventlog
