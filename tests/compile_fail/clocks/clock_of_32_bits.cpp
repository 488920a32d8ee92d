// SPDX-License-Identifier: MIT
//
// expect: a clock's count must be an integer of 64 bits
#include <chrono>
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct device_time {
    using duration = std::chrono::duration<std::uint32_t, std::micro>;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<device_time>;
    static time_point now() noexcept { return time_point(duration(7)); }
};

void set_it() {
    eventlog::set_clock<device_time>();
}
