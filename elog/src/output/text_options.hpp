// SPDX-License-Identifier: MIT
//
// Options for the contents of text lines.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "output/line_template.hpp"
#include "record/display_clock.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

struct text_options {
    display_clock clock = display_clock::realtime;
    bool utc = false;      // UTC instead of local time, for CLOCK_REALTIME
    bool delta = false;    // add the time since the previous event
    bool elapsed = false;  // add the time since the first event
    bool number = false;   // add the number of the line
    /// Nanoseconds since 1970: lines have the date from the first event on that is of another day.
    /// Without it lines have no date.
    std::optional<std::int64_t> today{};
    bool has_colors = false;                           // names of events by their level, and losses
    std::optional<std::vector<named_field>> fields{};  // only these, in this order
    std::optional<line_template> line{};               // replaces the usual line
};

/// Throws user_error if there are events, but none has a field named in the options.
void check_fields(const text_options& options, const provider_map& providers);

}  // namespace elog
