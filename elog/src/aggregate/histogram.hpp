// SPDX-License-Identifier: MIT
//
// How many values lie in which range: the buckets of a histogram. Memory goes with how far apart
// the values lie, and is bounded.
#pragma once

#include <cstdint>
#include <vector>

#include "text/wide_integer.hpp"

namespace elog {

class histogram {
  public:
    // As many lines as one looks at.
    static constexpr std::size_t automatic_max = 40;
    static constexpr std::size_t fixed_max = 1000;

    // `times` is how often there is such a value.

    /// Linear, with buckets as narrow as 40 of them allow: 1, 5, 10, 50, ... wide, or 1, 2, 4, ...
    /// if `powers_of_two`. What comes out depends only on the values, not on their order.
    void add_linear(wide_integer value, bool powers_of_two, std::uint64_t times = 1);

    /// Linear, with buckets of that width, above 0. A value more than 1000 buckets away from others
    /// counts as outside.
    void add_linear(wide_integer value, std::uint64_t width, std::uint64_t times = 1);
    void add_linear(double value, double width);

    /// By powers of two: 0, 1, 2 to 3, 4 to 7, ...; and below 0 the same mirrored. A float counts
    /// without its fraction; one beyond 64 bits, or that is no number, is outside.
    void add_log2(wide_integer value, std::uint64_t times = 1);
    void add_log2(double value);

    struct bucket {
        wide_integer index = 0;
        std::uint64_t count = 0;
    };
    /// From the first that has values to the last, those between them included.
    [[nodiscard]] std::vector<bucket> buckets() const;
    /// Of a linear bucket of integers; index times this is where it begins.
    [[nodiscard]] wide_integer width() const noexcept { return width_; }
    [[nodiscard]] std::uint64_t outside() const noexcept { return outside_; }

    /// Where the bucket of that index begins, and the next one does.
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
