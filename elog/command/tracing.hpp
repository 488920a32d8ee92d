// SPDX-License-Identifier: MIT
//
// --via tracefs: what is asked of the kernel's tracing, and said about it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "listening.hpp"
#include "patterns.hpp"
#include "subscription.hpp"
#include "traced_recording.hpp"

namespace elog {

enum class recording_route {
    memory,   // a subscription of ours
    tracefs,  // an instance of the kernel's tracing
};

/// Throws usage_failure for what is none. Nothing is memory.
[[nodiscard]] recording_route parse_route(const std::optional<std::string>& via);

/// Throws usage_failure for what the kernel's tracing cannot do.
void check_tracing(const listening_arguments& arguments);

/// `options` must outlive what they are for.
[[nodiscard]] tracing_options make_tracing_options(const listening_arguments& arguments,
                                                   const subscription_options& options);

/// Throws failure if a pattern has met nothing: it is most likely mistyped.
void check_traced(const event_patterns& patterns, const std::vector<bool>& met, const char* advice);

/// On standard error, what is new of them.
void tell_complaints(traced_recording& process);

}  // namespace elog
