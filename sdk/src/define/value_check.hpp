// SPDX-License-Identifier: MIT
//
// Whether values are what the definition of their event says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <eventlog/eventlog.h>

#include "provider/definition.hpp"

namespace eventlog::core {

/// Async-signal-safe; reads no memory but the values themselves.
[[nodiscard]] eventlog_error check_value(const defined_field& field,
                                         const eventlog_value& value) noexcept;

/// All values of an event. On an error `wrong` is the number of the first value that is wrong;
/// it says nothing if there are too many or too few.
[[nodiscard]] eventlog_error check_values(const defined_event& event,
                                          std::span<const eventlog_value> values,
                                          std::size_t& wrong) noexcept;

/// Says in words what check_values has found.
void describe_value_error(const defined_event& event, std::uint32_t id,
                          std::span<const eventlog_value> values, eventlog_error found,
                          std::size_t wrong, definition_error& error) noexcept;

}  // namespace eventlog::core
