// SPDX-License-Identifier: MIT
#include "aggregate/histogram.hpp"

#include <algorithm>
#include <cmath>

namespace elog {
namespace {

/// 0 for 0, otherwise the number of bits with the sign of the value.
int log2_index(wide_integer value) noexcept {
    auto size = static_cast<wide_unsigned>(value < 0 ? -value : value);
    int bits = 0;
    for (; size != 0; size >>= 1U) {
        ++bits;
    }
    return value < 0 ? -bits : bits;
}

}  // namespace

bool histogram::is_within(wide_integer index, std::size_t limit) const noexcept {
    const auto size = static_cast<wide_integer>(counts_.size());
    return counts_.empty() || (index >= base_ + size - static_cast<wide_integer>(limit) &&
                               index < base_ + static_cast<wide_integer>(limit));
}

/// Requires is_within(index).
void histogram::add(wide_integer index, std::uint64_t times) {
    if (counts_.empty()) {
        base_ = index;
    }
    if (index < base_) {
        counts_.insert(counts_.begin(), static_cast<std::size_t>(base_ - index), 0);
        base_ = index;
    }
    const auto place = static_cast<std::size_t>(index - base_);
    if (place >= counts_.size()) {
        counts_.resize(place + 1, 0);
    }
    counts_[place] += times;
}

void histogram::widen(unsigned times) {
    const wide_integer base = floor_div(base_, times);
    std::vector<std::uint64_t> wider;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        const wide_integer index = floor_div(base_ + static_cast<wide_integer>(i), times);
        wider.resize(static_cast<std::size_t>(index - base) + 1, 0);
        wider.back() += counts_[i];
    }
    base_ = base;
    counts_ = std::move(wider);
    width_ *= times;
}

void histogram::add_linear(wide_integer value, bool powers_of_two, std::uint64_t times) {
    while (!is_within(floor_div(value, width_), automatic_max)) {
        widened_by_five_ = !widened_by_five_;
        widen(powers_of_two || !widened_by_five_ ? 2 : 5);
    }
    add(floor_div(value, width_), times);
}

void histogram::add_linear(wide_integer value, std::uint64_t width, std::uint64_t times) {
    width_ = static_cast<wide_integer>(width);
    const wide_integer index = floor_div(value, width_);
    if (is_within(index, fixed_max)) {
        add(index, times);
    } else {
        outside_ += times;
    }
}

void histogram::add_linear(double value, double width) {
    constexpr double exact = 9e15;  // below this, adjacent integers are distinct doubles
    const double index = std::floor(value / width);
    if (std::fabs(index) < exact && is_within(static_cast<wide_integer>(index), fixed_max)) {
        add(static_cast<wide_integer>(index));
    } else {
        ++outside_;
    }
}

void histogram::add_log2(wide_integer value, std::uint64_t times) {
    add(log2_index(value), times);
}

void histogram::add_log2(double value) {
    constexpr double limit = 18446744073709551616.0;
    if (std::fabs(value) < limit) {
        add(log2_index(static_cast<wide_integer>(value)));
    } else {
        ++outside_;
    }
}

std::vector<histogram::bucket> histogram::buckets() const {
    std::vector<bucket> all;
    all.reserve(counts_.size());
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        all.push_back({base_ + static_cast<wide_integer>(i), counts_[i]});
    }
    return all;
}

void histogram::log2_bucket_bounds(int index, wide_integer& begin, wide_integer& end) noexcept {
    const auto power = [](int exponent) { return wide_integer{1} << exponent; };
    if (index > 0) {
        begin = power(index - 1);
        end = power(index);
    } else if (index < 0) {
        begin = 1 - power(-index);
        end = 1 - power(-index - 1);
    } else {
        begin = 0;
        end = 1;
    }
}

}  // namespace elog
