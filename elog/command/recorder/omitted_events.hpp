// SPDX-License-Identifier: MIT
//
// Events that were omitted on request, in the summary of a recording and from its file.
#pragma once

#include <string>
#include <vector>

#include "file/recording_notes.hpp"
#include "record/sampling_report.hpp"
#include "text/json_object.hpp"

namespace elog {

/// "200 events: 120 omitted (1/100), 30 omitted (--max-rate 10000), 50 kept".
[[nodiscard]] std::string omitted_text(const sampling_report& report);

/// Adds the members omitted, omitted_by_reason and omitted_by_event.
void add_omitted(json_object& object, const sampling_report& report);

/// What the notes of a file say, as lines.
[[nodiscard]] std::vector<std::string> note_lines(const recording_notes& notes);

}  // namespace elog
