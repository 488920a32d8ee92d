// SPDX-License-Identifier: MIT
#include "record/rate_limiter.hpp"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t remembered = elog::rate_limiter::seconds_max;

std::int64_t present = 0;

/// A limiter whose present is that variable.
class rate_limiter : public ::testing::Test {
  protected:
    void SetUp() override { present = 100 * second; }

    static elog::rate_limiter make_limiter(std::uint64_t per_second) {
        return elog::rate_limiter(per_second, [] { return present; });
    }
};

int admitted(elog::rate_limiter& limiter, std::int64_t time, int events) {
    int count = 0;
    for (int i = 0; i < events; ++i) {
        count += limiter.admits(time) ? 1 : 0;
    }
    return count;
}

TEST_F(rate_limiter, admits_first_events_of_each_second) {
    elog::rate_limiter limiter = make_limiter(3);
    EXPECT_EQ(admitted(limiter, 5 * second, 2), 2);
    EXPECT_EQ(admitted(limiter, 6 * second - 1, 5), 1);
    EXPECT_EQ(admitted(limiter, 6 * second, 5), 3);
}

TEST_F(rate_limiter, is_independent_of_order_of_arrival) {
    elog::rate_limiter limiter = make_limiter(3);
    EXPECT_EQ(admitted(limiter, 9 * second, 2), 2);
    EXPECT_EQ(admitted(limiter, 2 * second, 2), 2);
    EXPECT_EQ(admitted(limiter, 9 * second + 5, 2), 1);
    EXPECT_EQ(admitted(limiter, 2 * second + 5, 2), 1);
}

TEST_F(rate_limiter, rounds_negative_times_down) {
    elog::rate_limiter limiter = make_limiter(1);
    EXPECT_EQ(admitted(limiter, -1, 2), 1);
    EXPECT_EQ(admitted(limiter, 0, 2), 1);
    EXPECT_EQ(admitted(limiter, -second, 2), 0);
    EXPECT_EQ(admitted(limiter, -second - 1, 2), 1);
}

TEST_F(rate_limiter, counts_future_times_in_present_second) {
    elog::rate_limiter limiter = make_limiter(3);
    EXPECT_EQ(admitted(limiter, std::numeric_limits<std::int64_t>::max(), 2), 2);
    EXPECT_EQ(admitted(limiter, present, 3), 1);
    present += second;
    EXPECT_EQ(admitted(limiter, 5000 * second, 5), 3);
    EXPECT_EQ(admitted(limiter, present, 1), 0);
    EXPECT_EQ(admitted(limiter, present - second, 1), 0);
}

TEST_F(rate_limiter, keeps_count_of_present_second_for_any_future_times) {
    elog::rate_limiter limiter = make_limiter(3);
    EXPECT_EQ(admitted(limiter, present, 3), 3);
    for (std::int64_t i = 1; i <= 2 * remembered; ++i) {
        ASSERT_EQ(admitted(limiter, present + i * second, 1), 0);
    }
    EXPECT_EQ(admitted(limiter, present, 1), 0);
}

TEST_F(rate_limiter, keeps_count_of_present_second_for_any_past_times) {
    present = 10 * remembered * second;
    elog::rate_limiter limiter = make_limiter(1);
    EXPECT_EQ(admitted(limiter, present, 2), 1);
    for (std::int64_t i = 1; i < remembered; ++i) {
        ASSERT_EQ(admitted(limiter, present - i * second, 2), 1);
    }
    // All older seconds count as the oldest one.
    for (std::int64_t i = remembered; i < remembered + 10; ++i) {
        ASSERT_EQ(admitted(limiter, present - i * second, 1), 0);
    }
    EXPECT_EQ(admitted(limiter, std::numeric_limits<std::int64_t>::min(), 1), 0);
    EXPECT_EQ(admitted(limiter, present, 1), 0);
}

TEST_F(rate_limiter, remembers_seconds_up_to_the_limit) {
    elog::rate_limiter limiter = make_limiter(1);
    const std::int64_t first = present;
    EXPECT_EQ(admitted(limiter, first, 1), 1);
    present += (remembered - 1) * second;
    EXPECT_EQ(admitted(limiter, present, 1), 1);
    EXPECT_EQ(admitted(limiter, first, 1), 0);
    // The first second is forgotten, and the one behind it is the oldest.
    present += second;
    EXPECT_EQ(admitted(limiter, present, 1), 1);
    EXPECT_EQ(admitted(limiter, first, 2), 1);
    EXPECT_EQ(admitted(limiter, first + second, 1), 0);
}

TEST(rate_limiter_clock, is_that_of_the_machine) {
    elog::rate_limiter limiter(1);
    const std::int64_t before = elog::rate_limiter::machine_time();
    EXPECT_EQ(admitted(limiter, before - 5 * second, 2), 1);
    EXPECT_EQ(admitted(limiter, before - 6 * second, 2), 1);
}

}  // namespace
