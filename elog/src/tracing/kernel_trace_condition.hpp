// SPDX-License-Identifier: MIT
//
// What of a predicate the kernel asks of a trace event before it keeps it.
#pragma once

#include <cstdint>
#include <vector>

#include "predicate/predicate.hpp"
#include "tracing/kernel_condition.hpp"
#include "tracing/kernel_trace_registry.hpp"

namespace elog {

/// What the kernel calls the fields of an event, and where our payload, of that schema, has them:
/// published ones are laid out alike; of made ones the fields are in the same order.
[[nodiscard]] std::vector<kernel_field> kernel_fields_of(const kernel_trace_event& event,
                                                         const event_schema& known);

/// Of a program's event that nobody has published, nothing: what its level is, and what its numbers
/// are called, may be found out later. Nor of one whose types the predicate does not suit.
[[nodiscard]] kernel_condition condition_for(const kernel_trace_event& event,
                                             const predicate& wanted, std::int64_t reference_time);

}  // namespace elog
