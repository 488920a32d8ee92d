// SPDX-License-Identifier: MIT
//
// Functions of the emit path for the rest of this folder.
#pragma once

#include "provider/registered_provider.hpp"

namespace eventlog::core {

/// Whether the provider's events reach the subscription in that slot.
[[nodiscard]] bool is_attached(const eventlog_provider& provider, unsigned slot) noexcept;

}  // namespace eventlog::core
