// SPDX-License-Identifier: MIT
//
// What a call has computed for one key, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "aggregate/aggregator.hpp"

namespace elog {

struct formatted_bucket {
    std::string begin;  // as JSON shows it: a plain number
    std::string end;
    std::string label;  // as a table shows it
    std::uint64_t count = 0;
};

/// A decimal number of up to 128 bits.
[[nodiscard]] std::string decimal(wide_integer number);

/// Of a call that gives one number.
[[nodiscard]] std::string format_value(aggregate_function what, const accumulator& values,
                                       const display_format& display);
[[nodiscard]] std::string format_json_value(aggregate_function what, const accumulator& values);

/// The number itself, for bars.
[[nodiscard]] double numeric_value(aggregate_function what, const accumulator& values) noexcept;

/// Of a distribution. `step` is that of floats; 0 if there is none.
[[nodiscard]] std::vector<formatted_bucket> format_buckets(aggregate_function what,
                                                           const accumulator& values,
                                                           const display_format& display,
                                                           double step);

}  // namespace elog
