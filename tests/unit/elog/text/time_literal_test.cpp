// SPDX-License-Identifier: MIT
//
// Time literals of predicates and time ranges.
#include "text/time_literal.hpp"

#include <cstdint>
#include <cstdlib>
#include <optional>

#include <gtest/gtest.h>

namespace {

TEST(time_literal, without_date_is_on_current_day_of_its_zone) {
    constexpr std::int64_t second = 1'000'000'000;
    // 02:00 of the second day in this zone, 23:00 of the first day in UTC.
    ::setenv("TZ", "EEST-3", 1);
    ::tzset();
    EXPECT_EQ(elog::parse_time("23:30:00Z", 82800 * second), 84600 * second);
    EXPECT_EQ(elog::parse_time("02:30:00", 82800 * second), 84600 * second);
    ::setenv("TZ", "UTC", 1);
    ::tzset();
}

TEST(time_literal, outside_64_bit_range_is_none) {
    // On the days of the first and the last representable nanosecond.
    EXPECT_EQ(elog::parse_time("23:59Z", INT64_MAX), std::nullopt);
    EXPECT_EQ(elog::parse_time("00:00Z", INT64_MIN), std::nullopt);
    EXPECT_GT(elog::parse_time("23:47Z", INT64_MAX), INT64_MAX / 2);
}

}  // namespace
