// SPDX-License-Identifier: MIT
//
// Merges several recordings into one .elog file, ordered by time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "file/record_copier.hpp"
#include "tracing/kernel_trace_registry.hpp"

namespace elog {

struct merged_file {
    std::string path;
    std::vector<std::string> damages;  // what is missing from the new file, as sentences
};

struct merge_summary {
    copy_summary copied;
    std::vector<merged_file> damaged;     // in the order in which the files ended
    std::vector<std::string> unfinished;  // files without an end block
    std::uint64_t skipped = 0;            // blocks of a newer version
};

/// A file describes one host with its rings, processes and clock, so all inputs must be recordings
/// of one machine between two boots. Of a damaged file, the intact part is merged. Only files that
/// overlap in time are open at once, with one block per ring in memory. Throws user_error if a file
/// cannot be read at all, if the files do not belong together, if one is named twice or is the
/// output (nothing has been written then), or if the output cannot be written.
///
/// Recordings of perf and trace-cmd are accepted: then all times are converted to CLOCK_MONOTONIC.
/// Schemas of their events may be in the other files or in `published`, which is not called if all
/// files are of elog.
[[nodiscard]] merge_summary merge_files(
    const std::vector<std::string>& paths, const copy_options& to,
    const kernel_trace_registry::read_published& published = {});

}  // namespace elog
