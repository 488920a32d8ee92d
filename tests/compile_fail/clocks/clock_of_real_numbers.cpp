// SPDX-License-Identifier: MIT
//
// expect: a clock's count must be an integer of 64 bits
#include <chrono>

#include <eventlog/eventlog.hpp>

struct game_time {
    using duration = std::chrono::duration<double>;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<game_time>;
    static time_point now() noexcept { return time_point(duration(1.5)); }
};

void set_it() {
    eventlog::set_clock<game_time>();
}
