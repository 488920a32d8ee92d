// SPDX-License-Identifier: MIT
//
// The numbers of elog stat.
#include "output/record_counts.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace {

constexpr std::uint64_t second = 1'000'000'000;

TEST(record_counts, measure_the_time_on_a_clock_that_is_not_set) {
    elog::clock_converter clock(EVENTLOG_CLOCK_MONOTONIC);
    // After the first second, CLOCK_REALTIME is set forward by an hour.
    clock.add({10 * second, 10 * second, 1'600'000'000 * second});
    clock.add({11 * second, 11 * second, 1'600'000'001 * second});
    clock.add({12 * second, 12 * second, 1'600'003'602 * second});
    clock.add({14 * second, 14 * second, 1'600'003'604 * second});
    elog::record_counts counts;
    for (const std::uint64_t time : {10 * second, 14 * second}) {
        elog::merged_record record;
        record.record.time = time;
        counts.write(record, {}, clock, 0);
    }
    counts.finish();
    EXPECT_EQ(counts.seconds(), 4.0);
    EXPECT_EQ(counts.last() - counts.first(), static_cast<std::int64_t>(3604 * second));
}

TEST(record_counts, accept_times_of_damaged_files) {
    const elog::clock_converter clock;
    elog::record_counts counts;
    for (const std::uint64_t time : {std::uint64_t{0}, UINT64_MAX}) {
        elog::merged_record record;
        record.record.time = time;
        counts.write(record, {}, clock, 0);
    }
    EXPECT_GT(counts.seconds(), 9e9);
}

}  // namespace
