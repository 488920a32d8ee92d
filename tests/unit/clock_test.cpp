// SPDX-License-Identifier: MIT
#include "clock.hpp"

#include <cstdint>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

#include "clock_table.hpp"

namespace {

using elog::clock_table;

TEST(clock_table, interpolates_between_the_readings_around_a_time) {
    clock_table clock(EVENTLOG_CLOCK_TSC);
    clock.add({1000, 0, 50'000});
    clock.add({2000, 500, 50'500});
    clock.add({3000, 1500, 51'500});
    EXPECT_EQ(clock.realtime(1500), 50'250);
    EXPECT_EQ(clock.realtime(2500), 51'000);
}

TEST(clock_table, extrapolates_with_the_rate_of_the_whole) {
    clock_table clock(EVENTLOG_CLOCK_TSC);
    clock.add({1000, 0, 50'000});
    clock.add({3000, 1000, 51'000});
    EXPECT_EQ(clock.realtime(5000), 52'000);
    EXPECT_EQ(clock.realtime(0), 49'500);
}

TEST(clock_table, takes_nanoseconds_as_they_are) {
    clock_table clock(EVENTLOG_CLOCK_MONOTONIC);
    clock.add({1000, 1000, 51'000});
    EXPECT_EQ(clock.realtime(1500), 51'500);
}

TEST(clock_table, ignores_readings_that_go_backwards) {
    clock_table clock(EVENTLOG_CLOCK_TSC);
    clock.add({1000, 1000, 1000});
    clock.add({900, 900, 900});
    clock.add({1000, 2000, 2000});
    clock.add({2000, 2000, 2000});
    EXPECT_EQ(clock.realtime(1500), 1500);
}

TEST(clock_table, survives_readings_from_an_enemy) {
    clock_table clock(EVENTLOG_CLOCK_TSC);
    clock.add({0, 0, UINT64_MAX});
    clock.add({1, UINT64_MAX, 0});
    for (const std::uint64_t time :
         {std::uint64_t{0}, std::uint64_t{1}, UINT64_MAX / 2, UINT64_MAX}) {
        static_cast<void>(clock.realtime(time));
    }
    EXPECT_EQ(clock_table(EVENTLOG_CLOCK_TSC).realtime(7), 7);
}

TEST(clock_table, never_takes_a_later_time_for_an_earlier_one) {
    constexpr std::uint64_t start = 1'700'000'000'000'000'000;
    for (const std::uint32_t kind : {EVENTLOG_CLOCK_MONOTONIC, EVENTLOG_CLOCK_TSC}) {
        clock_table clock(kind);
        clock.add({5000, 5000, start});
        clock.add({9000, 9000, start + 4000});
        std::int64_t before = clock.realtime(0);
        EXPECT_LT(before, static_cast<std::int64_t>(start));
        for (const std::uint64_t time :
             {std::uint64_t{5000}, std::uint64_t{9000}, std::uint64_t{1} << 62U, UINT64_MAX / 2,
              UINT64_MAX / 2 + 2, UINT64_MAX - 5000, UINT64_MAX}) {
            EXPECT_GE(clock.realtime(time), before) << time;
            before = clock.realtime(time);
        }
        EXPECT_LT(before, INT64_MAX);  // where ranges without an end do
    }
    EXPECT_GT(clock_table().realtime(UINT64_MAX), 0);
}

TEST(clock, converts_to_real_time_by_the_rate_between_two_readings) {
    const std::uint32_t kind = eventlog::core::best_clock();
    clock_table table(kind);
    table.add(eventlog::core::read_clock_pair(kind));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const eventlog_clock_pair middle = eventlog::core::read_clock_pair(kind);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    table.add(eventlog::core::read_clock_pair(kind));
    const std::int64_t error =
        table.realtime(middle.clock) - static_cast<std::int64_t>(middle.realtime);
    // A reading may be interrupted by whoever else runs here: then it says nothing.
    EXPECT_LT(std::llabs(error), 1'000'000);
}

}  // namespace
