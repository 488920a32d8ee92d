// SPDX-License-Identifier: MIT
//
// elog flight snapshot --on-request and --when: snapshots that programs request or events trigger.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command_line.hpp"
#include "flight_snapshot.hpp"

namespace elog {

struct watch_arguments {
    bool on_request = false;
    std::optional<std::string> when;
    std::optional<std::uint64_t> iterations;
    std::optional<std::uint64_t> keep;
    std::optional<std::string> after;

    [[nodiscard]] bool is_wanted() const noexcept { return on_request || when.has_value(); }
};

/// Adds --on-request, --when, --iterations, --keep and --after. The arguments have to live until
/// the command line has been read.
void add_watch_options(subcommand& command, watch_arguments& arguments);

/// Throws usage_error.
void check_watch_options(const snapshot_arguments& snapshot, const watch_arguments& arguments);

/// Writes snapshots until a signal, the end of the flight recorder, or --iterations. Precondition:
/// the arguments have been checked, and is_wanted(). Throws user_error and usage_error.
void run_watch(const snapshot_arguments& snapshot, const watch_arguments& arguments);

}  // namespace elog
