// SPDX-License-Identifier: MIT
//
// What lines of text show of each event.
#pragma once

#include <optional>
#include <vector>

#include "output/line_template.hpp"
#include "record/display_clock.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

struct text_options {
    display_clock clock = display_clock::realtime;
    bool utc = false;    // instead of local time, of CLOCK_REALTIME
    bool delta = false;  // behind the time, that since the event before
    std::optional<std::vector<named_field>> fields{};  // these alone, in that order
    std::optional<line_template> line{};               // instead of the usual line
};

/// Throws failure if there are events, but none that has a field which the options name.
void check_fields(const text_options& options, const provider_map& providers);

}  // namespace elog
