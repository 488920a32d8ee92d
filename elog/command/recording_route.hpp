// SPDX-License-Identifier: MIT
//
// --via: which way events come from programs to a recording.
#pragma once

#include <optional>
#include <string>

#include "command_line.hpp"
#include "listening.hpp"

namespace elog {

enum class recording_route {
    memory,   // a subscription of ours, which programs write to
    device,   // the same of the kernel module's
    tracefs,  // an instance of the kernel's tracing
    perf,     // perf's buffers of the same events
};

/// --via. The text must live until the command line has been read.
void add_route_option(subcommand& command, std::optional<std::string>& via);

/// Throws usage_failure for what is none, or cannot do what is asked for. Nothing is memory.
[[nodiscard]] recording_route parse_route(const std::optional<std::string>& via,
                                          const listening_arguments& arguments);

}  // namespace elog
