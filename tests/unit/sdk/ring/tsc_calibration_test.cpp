// SPDX-License-Identifier: MIT
//
// The machine's counter at a given time, computed from disturbed readings.
#include "ring/tsc_calibration.hpp"

#include <cstdint>

#include <gtest/gtest.h>

namespace {

using eventlog::core::calibration_from;
using eventlog::core::rate_between;
using eventlog::core::tsc_at;
using eventlog::core::tsc_calibration;
using eventlog::core::update_calibration;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t begin = 1000 * second;
constexpr double real_rate = 3.0;

/// Of a counter of 3 GHz.
eventlog_clock_sample pair_at(std::int64_t time, std::int64_t error = 0) {
    return {static_cast<std::uint64_t>((time - begin) * 3 + 5 * second + error),
            static_cast<std::uint64_t>(time), 0};
}

/// The error of the calibrated time, in ticks.
std::int64_t error_at(const tsc_calibration& calibration, std::int64_t time) {
    return static_cast<std::int64_t>(tsc_at(calibration, time) - pair_at(time).clock);
}

TEST(tsc_calibration, converts_times_with_correct_rate) {
    tsc_calibration calibration = calibration_from(pair_at(begin), real_rate);
    update_calibration(calibration, pair_at(begin + second));
    for (const std::int64_t ahead : {-second, std::int64_t{0}, second, 3600 * second}) {
        EXPECT_NEAR(static_cast<double>(error_at(calibration, begin + ahead)), 0, 1);
    }
}

TEST(tsc_calibration, ignores_single_outlier_rate) {
    tsc_calibration calibration = calibration_from(pair_at(begin), real_rate);
    // The machine slept, and only the counter continued.
    const std::int64_t slept = 900 * second;
    update_calibration(calibration, pair_at(begin + second, slept));
    EXPECT_EQ(calibration.recent.rate, real_rate);
    update_calibration(calibration, pair_at(begin + 2 * second, slept));
    EXPECT_EQ(calibration.recent.rate, real_rate);
    for (const std::int64_t ahead : {second, 2 * second, 60 * second}) {
        EXPECT_NEAR(static_cast<double>(error_at(calibration, begin + ahead) - slept), 0, 1);
    }
}

TEST(tsc_calibration, corrects_wrong_initial_rate) {
    for (const double wrong : {real_rate * 1.4, real_rate * 0.99, 1.0, 1e9}) {
        tsc_calibration calibration = calibration_from(pair_at(begin), wrong);
        update_calibration(calibration, pair_at(begin + second));
        update_calibration(calibration, pair_at(begin + 2 * second));
        EXPECT_EQ(calibration.recent.rate, real_rate) << wrong;
        update_calibration(calibration, pair_at(begin + 3 * second));
        EXPECT_NEAR(static_cast<double>(error_at(calibration, begin + 100 * second)), 0, 1)
            << wrong;
    }
}

TEST(tsc_calibration, ignores_stopped_clocks) {
    EXPECT_EQ(rate_between(pair_at(begin), pair_at(begin)), 0);
    EXPECT_EQ(rate_between(pair_at(begin), pair_at(begin - 1)), 0);
    EXPECT_EQ(rate_between(pair_at(begin), {1, begin + 1, 0}), 0);
    EXPECT_EQ(calibration_from(pair_at(begin), 0).recent.rate, 1.0);
}

TEST(tsc_calibration, handles_impossible_rates_and_times) {
    tsc_calibration calibration = calibration_from(pair_at(begin), 1e300);
    for (const std::int64_t time : {INT64_MIN / 2, -begin, std::int64_t{0}, INT64_MAX / 2}) {
        EXPECT_GE(tsc_at(calibration, time), 1U);
    }
    update_calibration(calibration, {UINT64_MAX, static_cast<std::uint64_t>(begin + second), 0});
    EXPECT_GE(tsc_at(calibration, 2 * begin), 1U);
}

TEST(tsc_calibration, computes_rate_from_close_readings) {
    constexpr std::int64_t millisecond = 1'000'000;
    tsc_calibration calibration = calibration_from(pair_at(begin), real_rate * 1.0005);
    for (int i = 1; i <= 100; ++i) {
        update_calibration(calibration, pair_at(begin + i * millisecond));
    }
    EXPECT_DOUBLE_EQ(calibration.recent.rate, real_rate);
}

// A time that stays at the start, as of a paused simulation, lies further and further in the past.
TEST(tsc_calibration, is_stable_with_inexact_readings) {
    tsc_calibration calibration = calibration_from(pair_at(begin), real_rate);
    std::int64_t error = 700;
    for (int i = 1; i <= 60; ++i, error = -error) {
        update_calibration(calibration, pair_at(begin + i * second, error));
        EXPECT_NEAR(static_cast<double>(error_at(calibration, begin)), 0, 1) << i;
    }
}

// A time far in the future: after the first readings, their errors have little effect.
TEST(tsc_calibration, improves_extrapolation_over_time) {
    tsc_calibration calibration = calibration_from(pair_at(begin), real_rate);
    constexpr std::int64_t error = 300;  // 100 ns
    for (int i = 1; i <= 60; ++i) {
        update_calibration(calibration, pair_at(begin + i * second, i % 2 == 0 ? error : -error));
        const double bound = static_cast<double>(error) * (120.0 / i + 2);
        EXPECT_NEAR(static_cast<double>(error_at(calibration, begin + 120 * second)), 0, bound)
            << i;
    }
}

}  // namespace
