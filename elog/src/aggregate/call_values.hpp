// SPDX-License-Identifier: MIT
//
// Adds the values of one record, or of records that were aggregated elsewhere, to the accumulator
// of an aggregate call.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "aggregate/accumulator.hpp"
#include "aggregate/aggregate_planner.hpp"
#include "record/clock_converter.hpp"
#include "record/records.hpp"
#include "text/wide_integer.hpp"

namespace elog {

/// Sums of records of one key that were counted elsewhere.
struct partial_sums {
    std::uint64_t records = 0;
    std::vector<wide_integer> sums{};  // for each call that adds values; unused for others
};

/// The partial result of one call.
struct partial_aggregate {
    std::uint64_t count = 0;    // records with a value
    wide_integer sum = 0;       // for sum and avg
    wide_integer extreme = 0;   // for min and max
    wide_unsigned squares = 0;  // for stddev, with `sum`: the lower 128 bits, and the bits above
    std::uint64_t squares_high = 0;
    /// For distributions: a number in each bucket, and the bucket's count.
    std::vector<std::pair<wide_integer, std::uint64_t>> numbers{};
};

/// Whether the record has a value for the call.
[[nodiscard]] bool has_input(const call_input& input, const record_view& record) noexcept;

/// Adds the record's value, if it has one. The payload must have the planned size.
void add_value(aggregate_function what, const call_input& input, accumulator& into,
               const record_view& record, const clock_converter& clock);
/// Adds `records` records with this sum that agree with `like` in the fields of distributions.
void merge_value(aggregate_function what, const call_input& input, accumulator& into,
                 const record_view& like, const clock_converter& clock, std::uint64_t records,
                 wide_integer sum);
void merge_value(aggregate_function what, const call_input& input, accumulator& into,
                 const partial_aggregate& values);

}  // namespace elog
