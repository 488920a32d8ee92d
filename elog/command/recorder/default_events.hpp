// SPDX-License-Identifier: MIT
//
// Which events elog record, elog agg and elog flight start select without -e.
#pragma once

#include "live/listening.hpp"

namespace elog {

/// The error of a command that has no events.
struct missing_events {
    const char* sentences;
    const char* help;  // the words that print its help
};

/// Without -e, selects all events of the command, or of the processes that -p and --comm name.
/// Without these, throws syntax_error, with a list of running providers.
void complete_events(listening_arguments& arguments, bool has_command, const missing_events& error);

}  // namespace elog
