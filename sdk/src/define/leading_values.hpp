// SPDX-License-Identifier: MIT
//
// Emits events whose first values come from the library: the session and the duration.
#pragma once

#include <cstdint>
#include <span>

#include <eventlog/eventlog.h>

#include "provider/definition.hpp"

namespace eventlog::core {

using value_list = std::span<const eventlog_value>;

/// At most this many leading values.
inline constexpr std::size_t leading_values_max = 2;

/// Emits an event with `leading` in front of `values`, with the checks of emit_defined.
/// Preconditions and contexts: as of emit_defined.
[[nodiscard]] eventlog_error emit_with_leading(eventlog_provider& provider, std::uint32_t id,
                                               const defined_event& event, value_list leading,
                                               value_list values) noexcept;

}  // namespace eventlog::core
