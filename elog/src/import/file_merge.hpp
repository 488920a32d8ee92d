// SPDX-License-Identifier: MIT
//
// Several .elog files as one, in the order of time.
#pragma once

#include <string>
#include <vector>

#include "file/record_copier.hpp"
#include "tracing/kernel_trace_registry.hpp"

namespace elog {

struct merged_file {
    std::string path;
    std::vector<std::string> damages;  // what is missing from the new file, in sentences
};

struct merge_summary {
    copy_summary copied;
    std::vector<merged_file> damaged;     // in the order in which they ended
    std::vector<std::string> unfinished;  // files that have no end
};

/// What one file can hold has one host, whose rings, processes and clocks its events are of: all
/// files must be recordings of one machine between one start of it and the next. Of a file that is
/// damaged, what is whole is merged. Open are only files that meet in time; of each ring of these
/// one block is held. Throws failure if a file cannot be read at all, if they do not belong
/// together, if one of them comes twice or is the new file, or if that cannot be written; nothing
/// has been written then, but in the last case.
///
/// Recordings of perf and trace-cmd may be among them: then all times are put on CLOCK_MONOTONIC.
/// Of events in them there may be schemas in the other files, or `published`, which nobody asks
/// where all files are of elog.
[[nodiscard]] merge_summary merge_files(
    const std::vector<std::string>& paths, const copy_options& to,
    const kernel_trace_registry::read_published& published = {});

}  // namespace elog
