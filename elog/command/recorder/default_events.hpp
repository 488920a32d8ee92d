// SPDX-License-Identifier: MIT
//
// Which events `elog record` selects without -e.
#pragma once

#include "live/listening.hpp"

namespace elog {

/// Without -e, selects all events of the command, or of the processes that -p and --comm name.
/// Without these, throws syntax_error, with a list of running providers.
void complete_events(listening_arguments& arguments, bool has_command);

}  // namespace elog
