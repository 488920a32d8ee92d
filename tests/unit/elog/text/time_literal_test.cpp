// SPDX-License-Identifier: MIT
//
// Time literals of predicates and time ranges.
#include "text/time_literal.hpp"

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <gtest/gtest.h>

namespace {

constexpr std::int64_t second = 1'000'000'000;

/// Local time in a zone.
class local_times {
  public:
    explicit local_times(const char* zone) { set(zone); }
    local_times(const local_times&) = delete;
    local_times& operator=(const local_times&) = delete;
    ~local_times() { set("UTC"); }

    /// The distance of a time from another one in UTC, in seconds.
    [[nodiscard]] static std::int64_t distance(std::string_view local, std::string_view utc,
                                               elog::time_reading how = {}) {
        const auto time = elog::parse_time(local, 0, how);
        const auto origin = elog::parse_time(utc, 0);
        return time && origin ? (*time - *origin) / second : INT64_MAX;
    }

  private:
    static void set(const char* zone) {
        ::setenv("TZ", zone, 1);
        ::tzset();
    }
};

// Central Europe, without the files of the time zone database.
constexpr const char* zone_with_summer_time = "CET-1CEST,M3.5.0,M10.5.0/3";

TEST(time_literal, without_date_is_on_current_day_of_its_zone) {
    // 02:00 of the second day in this zone, 23:00 of the first day in UTC.
    ::setenv("TZ", "EEST-3", 1);
    ::tzset();
    EXPECT_EQ(elog::parse_time("23:30:00Z", 82800 * second), 84600 * second);
    EXPECT_EQ(elog::parse_time("02:30:00", 82800 * second), 84600 * second);
    ::setenv("TZ", "UTC", 1);
    ::tzset();
}

TEST(time_literal, in_repeated_hour_is_the_earlier_or_the_later_one) {
    const local_times zone(zone_with_summer_time);
    constexpr elog::time_reading later{.is_later = true};
    EXPECT_EQ(zone.distance("2026-10-25T02:30:00", "2026-10-25T00:30:00Z"), 0);
    EXPECT_EQ(zone.distance("2026-10-25T02:30:00", "2026-10-25T01:30:00Z", later), 0);
    EXPECT_EQ(zone.distance("2026-10-25T02:00:00", "2026-10-25T00:00:00Z"), 0);
    EXPECT_EQ(zone.distance("2026-10-25T02:00:00", "2026-10-25T01:00:00Z", later), 0);
    // The hours around it are unique.
    for (const elog::time_reading how : {elog::time_reading{}, later}) {
        EXPECT_EQ(zone.distance("2026-10-25T01:59:59", "2026-10-24T23:59:59Z", how), 0);
        EXPECT_EQ(zone.distance("2026-10-25T03:00:00", "2026-10-25T02:00:00Z", how), 0);
    }
}

TEST(time_literal, in_skipped_hour_is_the_change) {
    const local_times zone(zone_with_summer_time);
    for (const bool is_later : {false, true}) {
        const elog::time_reading how{.is_later = is_later};
        EXPECT_EQ(zone.distance("2026-03-29T02:30:00", "2026-03-29T01:00:00Z", how), 0);
        EXPECT_EQ(zone.distance("2026-03-29T01:59:59", "2026-03-29T00:59:59Z", how), 0);
        EXPECT_EQ(zone.distance("2026-03-29T03:00:00", "2026-03-29T01:00:00Z", how), 0);
    }
}

TEST(time_literal, on_a_later_day_has_the_same_time_of_day) {
    const local_times zone(zone_with_summer_time);
    // 12:00 on the day before the change.
    const auto reference = elog::parse_time("2026-10-24T10:00:00Z", 0);
    ASSERT_TRUE(reference);
    EXPECT_EQ(elog::parse_time("12:00", *reference, {.days = 1}),
              *reference + std::int64_t{25} * 3600 * second);
    EXPECT_EQ(elog::parse_time("12:00", *reference, {.days = 8}),
              elog::parse_time("2026-11-01T12:00", 0));
}

TEST(time_literal, outside_64_bit_range_is_none) {
    // On the days of the first and the last representable nanosecond.
    EXPECT_EQ(elog::parse_time("23:59Z", INT64_MAX), std::nullopt);
    EXPECT_EQ(elog::parse_time("00:00Z", INT64_MIN), std::nullopt);
    EXPECT_GT(elog::parse_time("23:47Z", INT64_MAX), INT64_MAX / 2);
}

}  // namespace
