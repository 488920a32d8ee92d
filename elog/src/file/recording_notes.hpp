// SPDX-License-Identifier: MIT
//
// What a recorder has left out on request: contents of note blocks. The counts are of the whole
// recording, also in the file of a part.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "record/sampling_report.hpp"

namespace elog {

/// The largest number of events of which a reader keeps the counts.
inline constexpr std::size_t omitted_events_max = EVENTLOG_PROVIDERS_MAX;

/// Of a recording that is limited to the processes of a command.
struct command_scope_counts {
    std::uint64_t outside = 0;              // records of other processes, left out
    std::uint64_t undecided = 0;            // records that are included, perhaps of other processes
    std::uint64_t undecided_processes = 0;  // number of these processes
};

struct recording_notes {
    std::optional<sampling_report> omitted{};  // by sampling and --max-rate
    std::optional<command_scope_counts> scope{};
};

}  // namespace elog
