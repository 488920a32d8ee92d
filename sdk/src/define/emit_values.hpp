// SPDX-License-Identifier: MIT
//
// Values of an event whose definition has been found.
#pragma once

#include <cstdint>
#include <span>

#include <eventlog/eventlog.h>

#include "provider/definition.hpp"

namespace eventlog::core {

/// Checks all values, the session's first where the event has one, and emits them if anyone
/// listens. The definition must stay meanwhile (definition_reader). As eventlog_emit_values
/// otherwise: async-signal-safe, without lock or allocation.
[[nodiscard]] eventlog_error emit_defined(eventlog_provider& provider, std::uint32_t id,
                                          const defined_event& event,
                                          std::span<const eventlog_value> values) noexcept;

}  // namespace eventlog::core
