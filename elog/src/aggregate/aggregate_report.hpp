// SPDX-License-Identifier: MIT
//
// Formats the result of an aggregation as a table, as bars, or as JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "aggregate/aggregator.hpp"

namespace elog {

struct report_style {
    std::size_t width = 80;  // columns of the terminal
    bool blocks = false;     // the terminal shows Unicode block characters
};

/// `begins`, the text of a time, is the heading of an interval's table.
void append_table(fmt::memory_buffer& out, const aggregator& computed, const report_style& style,
                  const std::optional<std::string>& begins);

/// One line: {"events": ..., "lost": ..., "groups": [{"key": {...}, "values": {...}}, ...]}.
void append_json(fmt::memory_buffer& out, const aggregator& computed,
                 const std::optional<std::string>& begins);

/// Messages about missing data: keys over the limit, damaged and unknown records.
[[nodiscard]] std::vector<std::string> incompleteness_warnings(const aggregator& computed);

}  // namespace elog
