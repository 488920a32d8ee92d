// SPDX-License-Identifier: MIT
//
// Accumulates the values of one aggregate call for one key.
//
// - Integers and their squares are added exactly (128 and 192 bits), so the order of records does
//   not matter.
// - Floats are added with compensation for rounding errors (Neumaier); their spread uses Welford's
//   method.
#pragma once

#include <cstdint>

#include "aggregate/histogram.hpp"
#include "text/wide_integer.hpp"

namespace elog {

class accumulator {
  public:
    void count_one() noexcept { ++count_; }
    void count_many(std::uint64_t values) noexcept { count_ += values; }
    /// Adds the sum of `values` integers.
    void add_partial_sum(wide_integer sum, std::uint64_t values) noexcept {
        count_ += values;
        sum_ += sum;
    }
    /// The same with the sum of their squares: its lower 128 bits and the bits above.
    void add_partial_variance(wide_integer sum, wide_unsigned squares, std::uint64_t squares_high,
                              std::uint64_t values) noexcept;
    void add_sum(wide_integer value) noexcept {
        ++count_;
        sum_ += value;
    }
    void add_min_max(wide_integer value) noexcept {
        smallest_ = count_ == 0 || value < smallest_ ? value : smallest_;
        largest_ = count_ == 0 || value > largest_ ? value : largest_;
        ++count_;
    }
    void add_for_variance(wide_integer value) noexcept;

    void add_sum(double value) noexcept;
    void add_min_max(double value) noexcept;
    void add_for_variance(double value) noexcept;

    [[nodiscard]] histogram& buckets() noexcept { return buckets_; }
    [[nodiscard]] const histogram& buckets() const noexcept { return buckets_; }

    /// All values; floats() of them are floats. sum(), smallest() and largest() cover all values
    /// only if floats() is 0.
    [[nodiscard]] std::uint64_t count() const noexcept { return count_ + floats_; }
    [[nodiscard]] std::uint64_t floats() const noexcept { return floats_; }
    [[nodiscard]] wide_integer sum() const noexcept { return sum_; }
    [[nodiscard]] wide_integer smallest() const noexcept { return smallest_; }
    [[nodiscard]] wide_integer largest() const noexcept { return largest_; }

    /// Of integers and floats together.
    [[nodiscard]] double floating_sum() const noexcept;
    [[nodiscard]] double floating_smallest() const noexcept;
    [[nodiscard]] double floating_largest() const noexcept;
    /// Of integers alone, rounded to the nearest integer. Requires a value.
    [[nodiscard]] wide_integer rounded_average() const noexcept;
    /// NaN without values.
    [[nodiscard]] double average() const noexcept;
    /// The square root of the mean squared distance from the average.
    [[nodiscard]] double standard_deviation() const noexcept;

  private:
    [[nodiscard]] long double integer_squares() const noexcept;

    std::uint64_t count_ = 0;  // of integers
    wide_integer sum_ = 0;
    wide_integer smallest_ = 0;
    wide_integer largest_ = 0;
    wide_unsigned squares_ = 0;  // of integers, the lower 128 bits
    std::uint64_t squares_high_ = 0;

    std::uint64_t floats_ = 0;
    double floating_sum_ = 0;
    double compensation_ = 0;  // of floating_sum_
    double floating_smallest_ = 0;
    double floating_largest_ = 0;
    double mean_ = 0;  // of floats
    double squared_deviations_ = 0;

    histogram buckets_;
};

}  // namespace elog
