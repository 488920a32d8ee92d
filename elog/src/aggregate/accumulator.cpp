// SPDX-License-Identifier: MIT
#include "aggregate/accumulator.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace elog {
namespace {

/// 192-bit integers in two's complement; all arithmetic is modulo 2^192.
using wide_words = std::array<std::uint64_t, 3>;

wide_words words_of(wide_integer value) noexcept {
    const auto bits = static_cast<wide_unsigned>(value);
    return {static_cast<std::uint64_t>(bits), static_cast<std::uint64_t>(bits >> 64U),
            value < 0 ? ~std::uint64_t{0} : 0};
}

wide_words times(const wide_words& one, const wide_words& other) noexcept {
    wide_words product{};
    for (std::size_t i = 0; i < 3; ++i) {
        std::uint64_t carry = 0;
        for (std::size_t j = 0; i + j < 3; ++j) {
            const wide_unsigned part = wide_unsigned{one[i]} * other[j] + product[i + j] + carry;
            product[i + j] = static_cast<std::uint64_t>(part);
            carry = static_cast<std::uint64_t>(part >> 64U);
        }
    }
    return product;
}

wide_words plus(const wide_words& one, const wide_words& other, bool minus) noexcept {
    wide_words sum{};
    std::uint64_t carry = minus ? 1 : 0;
    for (std::size_t i = 0; i < 3; ++i) {
        const wide_unsigned part = wide_unsigned{one[i]} + (minus ? ~other[i] : other[i]) + carry;
        sum[i] = static_cast<std::uint64_t>(part);
        carry = static_cast<std::uint64_t>(part >> 64U);
    }
    return sum;
}

long double floating(const wide_words& words) noexcept {
    return std::ldexp(static_cast<long double>(words[2]), 128) +
           std::ldexp(static_cast<long double>(words[1]), 64) + static_cast<long double>(words[0]);
}

/// Rounded once.
double nearest(wide_integer value) noexcept {
    return static_cast<double>(value);
}

}  // namespace

void accumulator::add_for_variance(wide_integer value) noexcept {
    add_sum(value);
    const auto size = static_cast<wide_unsigned>(value < 0 ? -value : value);
    const wide_unsigned square = size * size;
    squares_ += square;
    squares_high_ += squares_ < square ? 1U : 0U;
}

void accumulator::add_partial_variance(wide_integer sum, wide_unsigned squares,
                                       std::uint64_t squares_high, std::uint64_t values) noexcept {
    add_partial_sum(sum, values);
    squares_ += squares;
    squares_high_ += squares_high + (squares_ < squares ? 1U : 0U);
}

void accumulator::add_sum(double value) noexcept {
    ++floats_;
    const double sum = floating_sum_ + value;
    if (std::isfinite(sum)) {
        compensation_ += std::fabs(floating_sum_) >= std::fabs(value)
                             ? (floating_sum_ - sum) + value
                             : (value - sum) + floating_sum_;
    }
    floating_sum_ = sum;
}

/// NaN has no order and is ignored.
void accumulator::add_min_max(double value) noexcept {
    if (std::isnan(value)) {
        return;
    }
    floating_smallest_ = floats_ == 0 ? value : std::min(floating_smallest_, value);
    floating_largest_ = floats_ == 0 ? value : std::max(floating_largest_, value);
    ++floats_;
}

void accumulator::add_for_variance(double value) noexcept {
    add_sum(value);
    const double before = value - mean_;
    mean_ += before / static_cast<double>(floats_);
    squared_deviations_ += before * (value - mean_);
}

double accumulator::floating_sum() const noexcept {
    return nearest(sum_) + (floating_sum_ + compensation_);
}

double accumulator::floating_smallest() const noexcept {
    return floats_ == 0  ? nearest(smallest_)
           : count_ == 0 ? floating_smallest_
                         : std::min(nearest(smallest_), floating_smallest_);
}

double accumulator::floating_largest() const noexcept {
    return floats_ == 0  ? nearest(largest_)
           : count_ == 0 ? floating_largest_
                         : std::max(nearest(largest_), floating_largest_);
}

wide_integer accumulator::rounded_average() const noexcept {
    const auto number = static_cast<wide_integer>(count_);
    const wide_integer whole = floor_div(sum_, number);
    return sum_ - whole * number >= number - number / 2 ? whole + 1 : whole;
}

double accumulator::average() const noexcept {
    if (count() == 0) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (floats_ == 0) {
        // Quotient and remainder are converted separately: their sum may need more bits than a
        // double has.
        const auto number = static_cast<wide_integer>(count_);
        const wide_integer whole = sum_ / number;
        const wide_integer rest = sum_ % number;
        return static_cast<double>(static_cast<long double>(whole) +
                                   static_cast<long double>(rest) /
                                       static_cast<long double>(count_));
    }
    return floating_sum() / static_cast<double>(count());
}

/// The sum of squared distances of integers from their average. With q the integral part of the
/// average and r the remainder, it is S2 - 2 q S1 + n q^2 - r^2 / n. The first three terms are
/// computed exactly; their sum is positive and therefore correct modulo 2^192.
long double accumulator::integer_squares() const noexcept {
    const auto number = static_cast<wide_integer>(count_);
    const wide_integer whole = sum_ / number;
    const auto rest = static_cast<long double>(sum_ % number);
    const wide_words squares{static_cast<std::uint64_t>(squares_),
                             static_cast<std::uint64_t>(squares_ >> 64U), squares_high_};
    const wide_words twice = times(words_of(2 * whole), words_of(sum_));
    const wide_words square = times(times(words_of(whole), words_of(whole)), words_of(number));
    const long double about = floating(plus(plus(squares, twice, true), square, false));
    return std::max(0.0L, about - rest * rest / static_cast<long double>(count_));
}

double accumulator::standard_deviation() const noexcept {
    if (count() == 0) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    long double squares = count_ == 0 ? 0.0L : integer_squares();
    if (floats_ != 0) {
        squares += static_cast<long double>(squared_deviations_);
        if (count_ != 0) {
            const auto integers = static_cast<long double>(count_);
            const auto others = static_cast<long double>(floats_);
            const long double apart =
                static_cast<long double>(sum_) / integers - static_cast<long double>(mean_);
            squares += apart * apart * integers * others / (integers + others);
        }
    }
    return static_cast<double>(std::sqrt(squares / static_cast<long double>(count())));
}

}  // namespace elog
