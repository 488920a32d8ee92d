// SPDX-License-Identifier: MIT
//
// Checks values against the definition of their event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <eventlog/eventlog.h>

#include "provider/definition.hpp"

namespace eventlog::core {

/// Async-signal-safe; reads no memory except the value itself.
[[nodiscard]] eventlog_error check_value(const defined_field& field,
                                         const eventlog_value& value) noexcept;

/// Checks all values of an event. On an error `wrong` is the index of the first invalid value, or
/// the number of values if no single value is invalid.
[[nodiscard]] eventlog_error check_values(const defined_event& event,
                                          std::span<const eventlog_value> values,
                                          std::size_t& wrong) noexcept;

/// Writes the message about an error of check_values.
void describe_value_error(const defined_event& event, std::uint32_t id,
                          std::span<const eventlog_value> values, eventlog_error found,
                          std::size_t wrong, definition_error& error) noexcept;

}  // namespace eventlog::core
