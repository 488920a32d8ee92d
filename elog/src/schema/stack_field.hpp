// SPDX-License-Identifier: MIT
//
// Adds a field with the call stack (stack_symbolizer.hpp) to each event of a schema. It is the last
// field, so that the offsets of the other fields do not change.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "schema/provider_schema.hpp"

namespace elog {

/// Adds the field "stack", with underscores appended while the name is taken. Returns the offset of
/// its word in a payload; nullopt, with the event unchanged, if the event has the maximum of fields
/// or bytes. Call after assign_offsets().
std::optional<std::uint16_t> add_stack_field(event_schema& event);

/// A copy of the schema with the field in each of its events.
[[nodiscard]] std::shared_ptr<const provider_schema> with_stack_fields(
    const provider_schema& schema);

/// The result of add_stack_field() for the event `before`, which became `with`.
[[nodiscard]] std::optional<std::uint16_t> stack_offset(const event_schema& before,
                                                        const event_schema& with);

}  // namespace elog
