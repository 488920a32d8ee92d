// SPDX-License-Identifier: MIT
//
// --via tracefs and perf: what is asked of the kernel's tracing, and said about it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capture/kernel_trace_recording.hpp"
#include "live/listening.hpp"
#include "memory/subscription.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

/// What programs of this user have published. Where that cannot be read, events are shown by what
/// the kernel says about them.
[[nodiscard]] std::vector<provider_schema> read_published_schemas();

/// Throws usage_error for what the kernel's tracing cannot do.
void check_tracing(const listening_arguments& arguments);

/// `options` must outlive what they are for. Of `where` the kernel asks what it can. Throws
/// usage_error if that makes no sense.
[[nodiscard]] tracing_options make_tracing_options(tracing_kind kind,
                                                   const listening_arguments& arguments,
                                                   const subscription_options& options,
                                                   const std::optional<std::string>& where);

/// What the kernel asks of events before it keeps them, and counts in their place, for people.
[[nodiscard]] std::string explain(const std::vector<discovered_event>& events);

}  // namespace elog
