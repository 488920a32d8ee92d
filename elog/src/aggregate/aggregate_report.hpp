// SPDX-License-Identifier: MIT
//
// An aggregation's result as a table, as bars, or as JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "aggregate/aggregator.hpp"

namespace elog {

struct report_style {
    std::size_t width = 80;  // columns of the terminal
    bool blocks = false;     // it can show the block characters of Unicode
};

/// `begins`, in nanoseconds since 1970, heads the table of an interval.
void append_table(fmt::memory_buffer& out, const aggregator& computed, const report_style& style,
                  std::optional<std::int64_t> begins);

/// One line: {"events": ..., "lost": ..., "groups": [{"key": {...}, "values": {...}}, ...]}.
void append_json(fmt::memory_buffer& out, const aggregator& computed,
                 std::optional<std::int64_t> begins);

/// Sentences about what the result lacks: keys that found no room, records that made no sense.
[[nodiscard]] std::vector<std::string> incompleteness_warnings(const aggregator& computed);

}  // namespace elog
