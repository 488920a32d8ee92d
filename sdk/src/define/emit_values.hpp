// SPDX-License-Identifier: MIT
//
// Emits values of an event whose definition is known.
#pragma once

#include <cstdint>
#include <span>

#include <eventlog/eventlog.h>

#include "provider/definition.hpp"

namespace eventlog::core {

/// Checks all values, including the session's if the event has one, and emits them if the event has
/// a listener. Precondition: a definition_reader keeps the definition. Async-signal-safe, no lock,
/// no allocation.
[[nodiscard]] eventlog_error emit_defined(eventlog_provider& provider, std::uint32_t id,
                                          const defined_event& event,
                                          std::span<const eventlog_value> values) noexcept;

}  // namespace eventlog::core
