// SPDX-License-Identifier: MIT
//
// Times that users give on a clock, converted to CLOCK_REALTIME.
#include "record/display_clock.hpp"

#include <linux/eventlog.h>

#include <cstdint>

#include <gtest/gtest.h>

#include "base/user_error.hpp"

namespace {

using elog::display_clock;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::uint64_t ticks = 3;  // in a nanosecond
constexpr std::int64_t began = 1'700'000'000 * second;

/// A counter with readings at 100 s and 200 s since the start of the machine. In between the clock
/// is set ahead by an hour; the machine has slept 7 s, then 9 s.
elog::clock_converter sample_clock() {
    elog::clock_converter clock(EVENTLOG_CLOCK_TSC);
    const auto add = [&](std::int64_t monotonic, std::int64_t ahead) {
        clock.add({static_cast<std::uint64_t>(monotonic) * ticks,
                   static_cast<std::uint64_t>(monotonic),
                   static_cast<std::uint64_t>(began + monotonic + ahead)});
    };
    add(100 * second, 0);
    add(150 * second, 3600 * second);
    add(200 * second, 3600 * second);
    clock.add_offsets({100 * static_cast<std::uint64_t>(second) * ticks, 7 * second, 37 * second});
    clock.add_offsets({160 * static_cast<std::uint64_t>(second) * ticks, 9 * second, 37 * second});
    return clock;
}

TEST(display_clock, names_are_those_of_options) {
    for (const display_clock each : {display_clock::realtime, display_clock::monotonic,
                                     display_clock::boottime, display_clock::tai}) {
        EXPECT_EQ(elog::clock_of(elog::name_of(each)), each);
    }
    EXPECT_FALSE(elog::clock_of("sun"));
    EXPECT_FALSE(elog::clock_of(""));
}

TEST(display_clock, time_converts_to_realtime_and_back) {
    const elog::clock_converter clock = sample_clock();
    for (const std::int64_t at : {100, 120, 149, 151, 170, 200}) {
        const auto tick = static_cast<std::uint64_t>(at * second) * ticks;
        for (const display_clock each : {display_clock::realtime, display_clock::monotonic,
                                         display_clock::boottime, display_clock::tai}) {
            const std::int64_t shown = elog::to_display_time(each, clock, tick);
            EXPECT_EQ(elog::to_realtime(each, clock, shown), clock.realtime(tick))
                << elog::name_of(each) << " " << at;
        }
    }
}

TEST(display_clock, border_separates_records_exactly) {
    const elog::clock_converter clock = sample_clock();
    const std::int64_t border = 120 * second + 1;
    const std::int64_t realtime = elog::to_realtime(display_clock::monotonic, clock, border);
    for (std::uint64_t tick = 120 * static_cast<std::uint64_t>(second) * ticks - 9;
         tick < 120 * static_cast<std::uint64_t>(second) * ticks + 9; ++tick) {
        EXPECT_EQ(clock.realtime(tick) >= realtime, clock.monotonic(tick) >= border) << tick;
    }
}

TEST(display_clock, extreme_times_do_not_overflow) {
    const elog::clock_converter clock = sample_clock();
    for (const display_clock each :
         {display_clock::monotonic, display_clock::boottime, display_clock::tai}) {
        EXPECT_LE(elog::to_realtime(each, clock, INT64_MIN), began);
        EXPECT_GT(elog::to_realtime(each, clock, INT64_MAX), began);
    }
}

TEST(display_clock, without_offsets_is_rejected) {
    elog::clock_converter clock(EVENTLOG_CLOCK_MONOTONIC);
    clock.add({5, 5, 5});
    EXPECT_EQ(elog::to_realtime(display_clock::monotonic, clock, 9), 9);
    EXPECT_THROW(static_cast<void>(elog::to_realtime(display_clock::boottime, clock, 9)),
                 elog::user_error);
    EXPECT_THROW(static_cast<void>(elog::to_realtime(display_clock::tai, clock, 9)),
                 elog::user_error);
}

}  // namespace
