// SPDX-License-Identifier: MIT
//
// What a call has computed for one key, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "aggregate/aggregator.hpp"

namespace elog {

struct shown_bucket {
    std::string begin;  // as JSON shows it: a plain number
    std::string end;
    std::string label;  // as a table shows it
    std::uint64_t count = 0;
};

/// A decimal number of up to 128 bits.
[[nodiscard]] std::string decimal(wide_integer number);

/// Of a call that gives one number.
[[nodiscard]] std::string shown_value(aggregate_function what, const accumulator& values,
                                      const value_look& look);
[[nodiscard]] std::string json_value(aggregate_function what, const accumulator& values);

/// The number itself, for bars.
[[nodiscard]] double plain_value(aggregate_function what, const accumulator& values) noexcept;

/// Of a distribution. `step` is that of floats; 0 if there is none.
[[nodiscard]] std::vector<shown_bucket> shown_buckets(aggregate_function what,
                                                      const accumulator& values,
                                                      const value_look& look, double step);

}  // namespace elog
