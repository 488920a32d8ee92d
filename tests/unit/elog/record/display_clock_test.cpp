// SPDX-License-Identifier: MIT
//
// Times of records on the clocks that users choose.
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

TEST(display_clock, time_is_shown_on_each_clock) {
    const elog::clock_converter clock = sample_clock();
    const auto shown = [&](display_clock which, std::int64_t at) {
        return elog::to_display_time(which, clock, static_cast<std::uint64_t>(at * second) * ticks);
    };
    EXPECT_EQ(shown(display_clock::monotonic, 120), 120 * second);
    EXPECT_EQ(shown(display_clock::boottime, 120), 127 * second);
    EXPECT_EQ(shown(display_clock::boottime, 170), 179 * second);
    EXPECT_EQ(shown(display_clock::realtime, 170), began + (170 + 3600) * second);
    EXPECT_EQ(shown(display_clock::tai, 170), began + (170 + 3600 + 37) * second);
}

/// INT64_MAX is the end of an open range, in which every record is.
TEST(display_clock, time_is_before_the_end_of_time) {
    for (const std::int64_t offset : {0, 1, 2}) {
        elog::clock_converter clock(EVENTLOG_CLOCK_MONOTONIC);
        constexpr std::uint64_t last = INT64_MAX - 1;
        clock.add({1000, last, last});
        clock.add_offsets({1000, offset, offset});
        EXPECT_EQ(elog::to_display_time(display_clock::boottime, clock, 1000), INT64_MAX - 1);
        EXPECT_EQ(elog::to_display_time(display_clock::tai, clock, 1000), INT64_MAX - 1);
    }
}

TEST(display_clock, without_offsets_is_rejected) {
    elog::clock_converter clock(EVENTLOG_CLOCK_MONOTONIC);
    clock.add({5, 5, 5});
    EXPECT_EQ(elog::to_display_time(display_clock::monotonic, clock, 9), 9);
    EXPECT_THROW(static_cast<void>(elog::to_display_time(display_clock::boottime, clock, 9)),
                 elog::user_error);
    EXPECT_THROW(static_cast<void>(elog::to_display_time(display_clock::tai, clock, 9)),
                 elog::user_error);
}

}  // namespace
