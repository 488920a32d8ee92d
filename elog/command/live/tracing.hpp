// SPDX-License-Identifier: MIT
//
// Settings and explanations of the routes tracefs and perf.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capture/kernel_trace_recording.hpp"
#include "live/listening.hpp"
#include "memory/subscription.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

/// `options` has to outlive the recording. The kernel evaluates the part of `where` that it can.
/// Throws usage_error for an invalid predicate.
[[nodiscard]] tracing_options make_tracing_options(tracing_kind kind,
                                                   const listening_arguments& arguments,
                                                   const subscription_options& options,
                                                   const std::optional<std::string>& where);

/// Text that explains which conditions the kernel evaluates, and what it counts instead of
/// recording.
[[nodiscard]] std::string explain(const std::vector<discovered_event>& events);

}  // namespace elog
