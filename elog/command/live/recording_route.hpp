// SPDX-License-Identifier: MIT
//
// --via: which way events come from programs to a recording.
#pragma once

#include <optional>
#include <string>

#include "cli/command_line.hpp"
#include "live/listening.hpp"

namespace elog {

enum class recording_route {
    memory,   // a subscription of ours, which programs write to
    device,   // the same of the kernel module's
    relay,    // one of the module's that writes to a relay channel
    tracefs,  // an instance of the kernel's tracing
    perf,     // perf's buffers of the same events
};

struct route_arguments {
    std::optional<std::string> via;
    bool stacks = false;
    bool verbose = false;
};

struct requested_route {
    std::optional<recording_route> route;  // nothing: whichever has what is asked for
    bool verbose = false;                  // says which, and why
    bool stacks = false;                   // with each event, where its program was
};

/// --via, --stack and -v. The arguments must live until the command line has been read.
void add_route_options(subcommand& command, route_arguments& arguments);

/// Throws usage_error for what is none, or cannot do what is asked for. Without --via it is
/// memory.
[[nodiscard]] requested_route parse_route(const route_arguments& arguments,
                                          const listening_arguments& listening);

/// Throws usage_error for what cannot do what is asked for.
void check_route(recording_route route, const listening_arguments& listening);

/// As --via has it.
[[nodiscard]] const char* name_of(recording_route route) noexcept;

}  // namespace elog
