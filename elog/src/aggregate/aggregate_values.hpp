// SPDX-License-Identifier: MIT
//
// Formats the result of an aggregate call for one key as text and JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aggregate/aggregator.hpp"

namespace elog {

struct formatted_bucket {
    std::string begin;  // for JSON: a plain number
    std::string end;
    std::string label;  // for tables
    std::uint64_t count = 0;
};

/// A decimal number of up to 128 bits.
[[nodiscard]] std::string decimal(wide_integer number);

/// For calls with a single number as result.
[[nodiscard]] std::string format_value(aggregate_function what, const accumulator& values,
                                       const display_format& display);
[[nodiscard]] std::string format_json_value(aggregate_function what, const accumulator& values);

/// The result if it is an integer.
[[nodiscard]] std::optional<wide_integer> integer_result(aggregate_function what,
                                                         const accumulator& values) noexcept;
/// The result as a number, for the length of bars.
[[nodiscard]] double numeric_value(aggregate_function what, const accumulator& values) noexcept;

/// For calls with a distribution as result. `step` is the bucket width of floats, otherwise 0.
[[nodiscard]] std::vector<formatted_bucket> format_buckets(aggregate_function what,
                                                           const accumulator& values,
                                                           const display_format& display,
                                                           double step);

}  // namespace elog
