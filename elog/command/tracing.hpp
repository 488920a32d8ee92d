// SPDX-License-Identifier: MIT
//
// --via tracefs: what is asked of the kernel's tracing, and said about it.
#pragma once

#include "listening.hpp"
#include "subscription.hpp"
#include "traced_recording.hpp"

namespace elog {

/// Throws usage_failure for what the kernel's tracing cannot do.
void check_tracing(const listening_arguments& arguments);

/// `options` must outlive what they are for.
[[nodiscard]] tracing_options make_tracing_options(const listening_arguments& arguments,
                                                   const subscription_options& options);

}  // namespace elog
