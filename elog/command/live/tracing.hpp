// SPDX-License-Identifier: MIT
//
// Requests to the routes of events, and explanations of tracefs and perf.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capture/live_capture.hpp"
#include "live/listening.hpp"
#include "memory/subscription.hpp"

namespace elog {

/// `options` has to outlive the capture. The kernel evaluates the part of `where` that it can.
/// Throws usage_error for an invalid predicate.
[[nodiscard]] capture_request make_capture_request(const listening_arguments& arguments,
                                                   const subscription_options& options,
                                                   const std::optional<std::string>& where);

/// Text that explains which conditions the kernel evaluates, and what it counts instead of
/// recording.
[[nodiscard]] std::string explain(const std::vector<discovered_event>& events);

}  // namespace elog
