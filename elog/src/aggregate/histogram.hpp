// SPDX-License-Identifier: MIT
//
// Counts values in the buckets of a histogram. Memory depends on the distance between values and is
// bounded.
#pragma once

#include <cstdint>
#include <vector>

#include "text/wide_integer.hpp"

namespace elog {

class histogram {
  public:
    // The number of lines that fit a screen.
    static constexpr std::size_t automatic_max = 40;
    static constexpr std::size_t fixed_max = 1000;

    // `times` is the number of equal values.

    /// Linear with at most 40 buckets, as narrow as possible: 1, 5, 10, 50, ... wide, or 1, 2, 4,
    /// ... if `powers_of_two`. The result does not depend on the order of the values.
    void add_linear(wide_integer value, bool powers_of_two, std::uint64_t times = 1);

    /// Linear with buckets of this positive width. A value more than 1000 buckets away from the
    /// other values counts as outside.
    void add_linear(wide_integer value, std::uint64_t width, std::uint64_t times = 1);
    void add_linear(double value, double width);

    /// By powers of two: 0, 1, 2 to 3, 4 to 7, ...; mirrored below 0. The fraction of a float is
    /// ignored; a float beyond 64 bits, or NaN, counts as outside.
    void add_log2(wide_integer value, std::uint64_t times = 1);
    void add_log2(double value);

    struct bucket {
        wide_integer index = 0;
        std::uint64_t count = 0;
    };
    /// From the first bucket with values to the last, including empty ones between them.
    [[nodiscard]] std::vector<bucket> buckets() const;
    /// Width of a linear bucket of integers. A bucket begins at its index times this width.
    [[nodiscard]] wide_integer width() const noexcept { return width_; }
    [[nodiscard]] std::uint64_t outside() const noexcept { return outside_; }

    /// The lower bounds of the bucket with this index and of the next one.
    static void log2_bucket_bounds(int index, wide_integer& begin, wide_integer& end) noexcept;

  private:
    [[nodiscard]] bool is_within(wide_integer index, std::size_t limit) const noexcept;
    void add(wide_integer index, std::uint64_t times = 1);
    void widen(unsigned times);

    wide_integer base_ = 0;  // index of the first count
    wide_integer width_ = 1;
    std::vector<std::uint64_t> counts_;
    std::uint64_t outside_ = 0;
    bool widened_by_five_ = false;
};

}  // namespace elog
