// SPDX-License-Identifier: MIT
#include "record/rate_limiter.hpp"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace {

constexpr std::int64_t second = 1'000'000'000;

int admitted(elog::rate_limiter& limiter, std::int64_t time, int events) {
    int count = 0;
    for (int i = 0; i < events; ++i) {
        count += limiter.admits(time) ? 1 : 0;
    }
    return count;
}

TEST(rate_limiter, admits_first_events_of_each_second) {
    elog::rate_limiter limiter(3);
    EXPECT_EQ(admitted(limiter, 5 * second, 2), 2);
    EXPECT_EQ(admitted(limiter, 6 * second - 1, 5), 1);
    EXPECT_EQ(admitted(limiter, 6 * second, 5), 3);
}

TEST(rate_limiter, is_independent_of_order_of_arrival) {
    elog::rate_limiter limiter(3);
    EXPECT_EQ(admitted(limiter, 9 * second, 2), 2);
    EXPECT_EQ(admitted(limiter, 2 * second, 2), 2);
    EXPECT_EQ(admitted(limiter, 9 * second + 5, 2), 1);
    EXPECT_EQ(admitted(limiter, 2 * second + 5, 2), 1);
}

TEST(rate_limiter, rounds_negative_times_down) {
    elog::rate_limiter limiter(1);
    EXPECT_EQ(admitted(limiter, -1, 2), 1);
    EXPECT_EQ(admitted(limiter, 0, 2), 1);
    EXPECT_EQ(admitted(limiter, -second, 2), 0);
    EXPECT_EQ(admitted(limiter, -second - 1, 2), 1);
}

TEST(rate_limiter, accepts_any_time_with_bounded_memory) {
    elog::rate_limiter limiter(1);
    EXPECT_TRUE(limiter.admits(std::numeric_limits<std::int64_t>::max()));
    EXPECT_TRUE(limiter.admits(std::numeric_limits<std::int64_t>::min()));
    const auto seconds = static_cast<std::int64_t>(elog::rate_limiter::seconds_max);
    for (std::int64_t i = 1; i <= seconds; ++i) {
        EXPECT_EQ(admitted(limiter, i * second, 2), 1);
    }
    // The earliest seconds are forgotten, so that their events are admitted again.
    EXPECT_EQ(admitted(limiter, seconds * second, 1), 0);
    EXPECT_EQ(admitted(limiter, second, 1), 1);
}

}  // namespace
