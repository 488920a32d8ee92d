// SPDX-License-Identifier: MIT
//
// expect: a clock's period is a whole part of a second
#include <chrono>
#include <cstdint>
#include <ratio>

#include <eventlog/clock.hpp>

struct frame_clock {
    using rep = std::int64_t;
    using period = std::ratio<1001, 30000>;
    using duration = std::chrono::duration<rep, period>;
    using time_point = std::chrono::time_point<frame_clock>;
    static constexpr bool is_steady = true;

    static time_point now() noexcept;
};

void set_it() {
    eventlog::set_clock<frame_clock>();
}
