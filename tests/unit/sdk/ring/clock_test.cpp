// SPDX-License-Identifier: MIT
#include "ring/clock.hpp"

#include <time.h>

#include <array>
#include <cstdint>
#include <span>

#include <gtest/gtest.h>

#include "listener.hpp"
#include "record/clock_converter.hpp"
#include "record/clock_offset_table.hpp"
#include "scoped_environment.hpp"

namespace {

using elog::clock_converter;

TEST(clock_converter, interpolates_between_neighbouring_readings) {
    clock_converter clock(EVENTLOG_CLOCK_TSC);
    clock.add({1000, 0, 50'000});
    clock.add({2000, 500, 50'500});
    clock.add({3000, 1500, 51'500});
    EXPECT_EQ(clock.realtime(1500), 50'250);
    EXPECT_EQ(clock.realtime(2500), 51'000);
}

TEST(clock_converter, extrapolates_with_overall_rate) {
    clock_converter clock(EVENTLOG_CLOCK_TSC);
    clock.add({1000, 0, 50'000});
    clock.add({3000, 1000, 51'000});
    EXPECT_EQ(clock.realtime(5000), 52'000);
    EXPECT_EQ(clock.realtime(0), 49'500);
}

TEST(clock_converter, passes_nanoseconds_through) {
    clock_converter clock(EVENTLOG_CLOCK_MONOTONIC);
    clock.add({1000, 1000, 51'000});
    EXPECT_EQ(clock.realtime(1500), 51'500);
}

TEST(clock_converter, ignores_backward_readings) {
    clock_converter clock(EVENTLOG_CLOCK_TSC);
    clock.add({1000, 1000, 1000});
    clock.add({900, 900, 900});
    clock.add({1000, 2000, 2000});
    clock.add({2000, 2000, 2000});
    EXPECT_EQ(clock.realtime(1500), 1500);
}

TEST(clock_converter, survives_hostile_readings) {
    clock_converter clock(EVENTLOG_CLOCK_TSC);
    clock.add({0, 0, UINT64_MAX});
    clock.add({1, UINT64_MAX, 0});
    for (const std::uint64_t time :
         {std::uint64_t{0}, std::uint64_t{1}, UINT64_MAX / 2, UINT64_MAX}) {
        static_cast<void>(clock.realtime(time));
    }
    EXPECT_EQ(clock_converter(EVENTLOG_CLOCK_TSC).realtime(7), 7);
}

TEST(clock_converter, conversion_is_monotonic) {
    constexpr std::uint64_t start = 1'700'000'000'000'000'000;
    for (const std::uint32_t kind : {EVENTLOG_CLOCK_MONOTONIC, EVENTLOG_CLOCK_TSC}) {
        clock_converter clock(kind);
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
        EXPECT_LT(before, INT64_MAX);  // the end of unlimited time ranges
    }
    EXPECT_GT(clock_converter().realtime(UINT64_MAX), 0);
}

TEST(clock_converter, converts_to_other_clocks_by_offset_at_time) {
    clock_converter clock(EVENTLOG_CLOCK_MONOTONIC);
    clock.add({1000, 1000, 51'000});
    clock.add_offsets({1000, 7, 37});
    clock.add_offsets({2000, 500, 38});
    clock.add_offsets({1500, 9, 9});      // the clock goes backwards
    EXPECT_EQ(clock.boottime(500), 507);  // before the first reading: its offset
    EXPECT_EQ(clock.boottime(1999), 2006);
    EXPECT_EQ(clock.boottime(2000), 2500);
    EXPECT_EQ(clock.tai(1999), 52'036);
    EXPECT_EQ(clock.tai(2000), 52'038);
}

TEST(clock_converter, survives_hostile_offsets) {
    for (const std::int64_t offset : {INT64_MIN, INT64_MAX}) {
        clock_converter clock(EVENTLOG_CLOCK_MONOTONIC);
        clock.add({0, 0, UINT64_MAX / 2});
        clock.add_offsets({0, offset, offset});
        for (const std::uint64_t time : {std::uint64_t{0}, UINT64_MAX}) {
            static_cast<void>(clock.boottime(time));
            static_cast<void>(clock.tai(time));
        }
        EXPECT_TRUE(elog::offsets_changed({0, 0, 0}, {0, offset, 0}));
    }
}

TEST(clock_offset_table, matches_kernel_clocks) {
    const auto seconds = [](clockid_t clock) {
        timespec now{};
        static_cast<void>(::clock_gettime(clock, &now));
        return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
    };
    const elog::clock_offsets found = elog::read_clock_offsets(17);
    EXPECT_EQ(found.clock, 17U);
    EXPECT_NEAR(static_cast<double>(found.boottime) / 1e9,
                seconds(CLOCK_BOOTTIME) - seconds(CLOCK_MONOTONIC), 0.1);
    EXPECT_NEAR(static_cast<double>(found.tai) / 1e9, seconds(CLOCK_TAI) - seconds(CLOCK_REALTIME),
                0.5);
    EXPECT_EQ(found.tai % 1'000'000'000, 0);
    EXPECT_FALSE(elog::offsets_changed(found, {18, found.boottime + 900, found.tai}));
    EXPECT_TRUE(elog::offsets_changed(found, {18, found.boottime + 1100, found.tai}));
    EXPECT_TRUE(elog::offsets_changed(found, {18, found.boottime, found.tai + 1'000'000'000}));
}

eventlog_clock_sample least_interrupted(std::span<const eventlog::core::clock_readings> readings) {
    eventlog_clock_sample best{};
    std::uint64_t shortest = UINT64_MAX;
    for (const auto& each : readings) {
        eventlog::core::keep_less_interrupted(each, shortest, best);
    }
    return best;
}

TEST(clock, selects_uninterrupted_reading) {
    using eventlog::core::clock_readings;
    constexpr clock_readings usual{1000, 70, 5070, 1060};
    constexpr clock_readings held_up_early{5000, 9000, 14'000, 9060};
    constexpr clock_readings held_up_late{20'000, 210, 5210, 900'000};
    constexpr std::array orders{
        std::array{usual, held_up_early, held_up_late},
        std::array{held_up_early, usual, held_up_late},
        std::array{held_up_late, held_up_early, usual},
    };
    for (const auto& readings : orders) {
        const eventlog_clock_sample pair = least_interrupted(readings);
        EXPECT_EQ(pair.clock, 1030U);
        EXPECT_EQ(pair.monotonic, 70U);
        EXPECT_EQ(pair.realtime, 5070U);
    }
}

TEST(clock, handles_wrap_between_readings) {
    using eventlog::core::clock_readings;
    constexpr std::array readings{clock_readings{100, 1, 2, 300},
                                  clock_readings{UINT64_MAX - 49, 3, 4, 50}};
    EXPECT_EQ(least_interrupted(readings).clock, 0U);
}

// Holds wherever the thread is interrupted.
TEST(clock, pair_lies_between_surrounding_readings) {
    const auto realtime = [] {
        timespec now{};
        static_cast<void>(::clock_gettime(CLOCK_REALTIME, &now));
        return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
               static_cast<std::uint64_t>(now.tv_nsec);
    };
    const eventlog::test::pinned_to_one_cpu pinned;
    for (const char* choice : {"on", "off"}) {
        const eventlog::test::scoped_environment_variable tsc("EVENTLOG_TSC", choice);
        const std::uint32_t kind = eventlog::core::best_clock();
        SCOPED_TRACE(kind);
        const std::uint64_t real_before = realtime();
        const std::uint64_t monotonic_before = eventlog::core::read_clock(EVENTLOG_CLOCK_MONOTONIC);
        const std::uint64_t before = eventlog::core::read_clock_ordered(kind);
        const eventlog_clock_sample pair = eventlog::core::read_clock_sample(kind);
        const std::uint64_t after = eventlog::core::read_clock_ordered(kind);
        const std::uint64_t monotonic_after = eventlog::core::read_clock(EVENTLOG_CLOCK_MONOTONIC);
        EXPECT_GE(pair.clock, before);
        EXPECT_LE(pair.clock, after);
        EXPECT_GE(pair.monotonic, monotonic_before);
        EXPECT_LE(pair.monotonic, monotonic_after);
        // The wall clock may be set meanwhile, but not by an hour.
        constexpr std::uint64_t hour = 3'600'000'000'000;
        EXPECT_LT(pair.realtime - real_before + hour, 2 * hour);
    }
}

}  // namespace
