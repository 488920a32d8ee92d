// SPDX-License-Identifier: MIT
//
// The option --via: the route of events from programs to a recording.
#pragma once

#include <optional>
#include <string>

#include "capture/recording_route.hpp"
#include "cli/command_line.hpp"
#include "live/listening.hpp"

namespace elog {

struct route_arguments {
    std::optional<std::string> via;
    bool stacks = false;
};

struct requested_route {
    std::optional<recording_route> route;  // nothing: the first one with a match for each pattern
    bool stacks = false;                   // add a call stack to each event
};

/// Adds --via and --stack. The arguments have to live until the command line has been read.
void add_route_options(subcommand& command, route_arguments& arguments);

/// Throws usage_error for an unknown route, or for one that does not support an option. The default
/// is memory.
[[nodiscard]] requested_route parse_route(const route_arguments& arguments,
                                          const listening_arguments& listening);

/// Throws usage_error if the route does not support an option.
void check_route(recording_route route, const listening_arguments& arguments);

}  // namespace elog
