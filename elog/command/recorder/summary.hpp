// SPDX-License-Identifier: MIT
//
// The summary of a recording.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "file/file_sink.hpp"
#include "record/recording_summary.hpp"
#include "record/sampling_report.hpp"
#include "text/json_object.hpp"

namespace elog {

/// Facts about a recording that are not in its summary.
struct summary_notes {
    std::optional<std::string> output{};       // the file, or a pattern of several files
    std::optional<std::uint64_t> passed{};     // events for which --where is true
    std::optional<std::uint64_t> kept{};       // of these, the first ones, limited by --limit
    std::optional<sampling_report> omitted{};  // on request, of those that passed
    std::optional<json_object> command{};  // counts of a recording limited to a command's processes
    std::uint64_t moved = 0;               // events in other files, which had the name before
};

/// Counts events that did not reach the file as lost instead of recorded.
void count_unwritten(recording_summary& summary, const std::vector<unwritten_records>& by_ring);

/// Writes numbers, output and losses with their reasons to standard error; with --quiet nothing but
/// losses.
void print_summary(const recording_summary& summary, const summary_notes& notes);

/// Writes the summary as a JSON object to standard output: the version, the members of `first`, and
/// those of the summary, see elog-json(5). Losses are also written to standard error. A closed
/// standard output is not an error. Returns false after an error, which has been reported: the
/// caller ends with status 1 once the recording is complete.
[[nodiscard]] bool print_summary_as_json(const json_object& first, const recording_summary& summary,
                                         const summary_notes& notes);

}  // namespace elog
