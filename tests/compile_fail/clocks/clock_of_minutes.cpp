// SPDX-License-Identifier: MIT
//
// expect: a clock's period must be a whole part of a second
#include <chrono>
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct shop_time {
    using duration = std::chrono::duration<std::int64_t, std::ratio<60>>;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<shop_time>;
    static time_point now() noexcept { return time_point(duration(7)); }
};

void set_it() {
    eventlog::set_clock<shop_time>();
}
