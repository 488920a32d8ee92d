// SPDX-License-Identifier: MIT
//
// A field more for each event of a schema: where its program was, as stack_symbolizer.hpp says it.
// It stands behind all others, as one does that a program appends.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "schema/provider_schema.hpp"

namespace elog {

/// Adds it, as "stack", or "stack_" where there is a field of that name. Returns where its word is
/// in a payload. An event that has as many fields or bytes as there may be stays as it is. To be
/// called behind lay_out().
std::optional<std::uint16_t> add_stack_field(event_schema& event);

/// The schema with that field in each of its events.
[[nodiscard]] std::shared_ptr<const provider_schema> with_stack_fields(
    const provider_schema& schema);

/// What add_stack_field() has returned for an event, before and with it.
[[nodiscard]] std::optional<std::uint16_t> stack_offset(const event_schema& before,
                                                        const event_schema& with);

}  // namespace elog
