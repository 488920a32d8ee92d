// SPDX-License-Identifier: MIT
//
// --via: which way events come from programs to a recording.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "patterns.hpp"

namespace elog {

enum class recording_route {
    memory,   // a subscription of ours, which programs write to
    device,   // the same of the kernel module's
    tracefs,  // an instance of the kernel's tracing
};

/// Throws usage_failure for what is none. Nothing is memory.
[[nodiscard]] recording_route parse_route(const std::optional<std::string>& via);

/// Throws failure if a pattern has met nothing in the kernel: it is most likely mistyped.
void check_met_in_kernel(const event_patterns& patterns, const std::vector<bool>& met,
                         const char* advice);

}  // namespace elog
