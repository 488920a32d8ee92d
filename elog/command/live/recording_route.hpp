// SPDX-License-Identifier: MIT
//
// The option --via: the route of events from programs to a recording.
#pragma once

#include <optional>
#include <string>

#include "cli/command_line.hpp"
#include "live/listening.hpp"

namespace elog {

enum class recording_route {
    memory,   // a subscription in shared memory, to which programs write
    device,   // a subscription of the kernel module
    relay,    // a subscription of the module that writes to a relay channel
    tracefs,  // an instance of the kernel's tracing
    perf,     // perf buffers of the same events
};

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

/// Whether the route uses the kernel's tracing.
[[nodiscard]] constexpr bool is_traced(recording_route route) noexcept {
    return route == recording_route::tracefs || route == recording_route::perf;
}

/// The name in --via.
[[nodiscard]] const char* name_of(recording_route route) noexcept;

}  // namespace elog
