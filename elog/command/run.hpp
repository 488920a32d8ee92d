// SPDX-License-Identifier: MIT
//
// Running a script, for elog run and for latencies of elog agg.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "aggregate/aggregator.hpp"
#include "live/listening.hpp"
#include "live/record_selection.hpp"
#include "live/recording_route.hpp"
#include "script/script.hpp"
#include "scripts.hpp"

namespace elog {

struct run_arguments {
    std::optional<std::string> file;
    std::optional<std::string> text;
    std::optional<std::string> recording;
    record_selection choice;  // of the recording
    listening_arguments listening;
    route_arguments route;
    std::optional<std::string> duration;
    std::uint64_t keys = aggregator::keys_default;
    bool explain = false;
};

/// Throws usage_error for options for live events with a recording, and the reverse.
void check_run_options(const run_arguments& arguments);

/// `input` is where the script is from, for messages. Throws syntax_error for a script that does
/// not fit the events, before it runs.
void run_script(const run_arguments& arguments, const script& wanted, const script_input& input);

}  // namespace elog
