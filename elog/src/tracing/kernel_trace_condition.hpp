// SPDX-License-Identifier: MIT
//
// The condition that the kernel checks before it records a trace event.
#pragma once

#include <cstdint>
#include <vector>

#include "predicate/predicate.hpp"
#include "tracing/kernel_condition.hpp"
#include "tracing/kernel_trace_registry.hpp"

namespace elog {

/// The kernel's names of an event's fields and their offsets in payloads of the schema `known`.
/// Published schemas have the kernel's layout; derived schemas have the same order of fields.
[[nodiscard]] std::vector<kernel_field> kernel_fields_of(const kernel_trace_event& event,
                                                         const event_schema& known);

/// The provider of the event with only the parts of its schema, which may have a thousand events,
/// that names in predicates and aggregations need.
[[nodiscard]] provider_instance naming_provider(const kernel_trace_event& event);

/// No condition for a program's event without published schema, because its level and its
/// enumerations may become known later, nor if the predicate does not fit the types of the event.
[[nodiscard]] kernel_condition condition_for(const kernel_trace_event& event,
                                             const predicate& wanted, std::int64_t reference_time);

}  // namespace elog
