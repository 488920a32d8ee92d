// SPDX-License-Identifier: MIT
//
// What of the emit path others need.
#pragma once

#include "provider/registered_provider.hpp"

namespace eventlog::core {

/// Whether events of the provider reach the subscription in that slot.
[[nodiscard]] bool is_attached(const eventlog_provider& provider, unsigned slot) noexcept;

/// Attaches, from an emit: signals and cancellation wait, errno stays. False if it is not attached
/// afterwards: nobody is there, or it has to be tried again.
[[nodiscard]] bool attach_now(eventlog_provider& provider, unsigned slot) noexcept;

}  // namespace eventlog::core
