// SPDX-License-Identifier: MIT
//
// Matches a trace event of the kernel with an event of elog: with the schema that its program has
// published, or with a schema derived from the kernel's description.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/event_format.hpp"
#include "format/payload_plan.hpp"
#include "schema/patterns.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

/// Parts of the kernel's name of an event, as far as they can be separated.
struct kernel_trace_name {
    std::string system;
    std::string provider;  // empty: the boundary is unknown
    std::string event;     // event name, or PROVIDER_EVENT if the boundary is unknown
};

/// Whether the events of that system are defined by programs and not by the kernel.
[[nodiscard]] bool is_program_system(std::string_view system) noexcept;

/// Splits a name. Events of programs are PROVIDER_EVENT in the system eventlog, and
/// eventlog_PROVIDER_EVENT, with or without a dot and a number, in user_events and, with patched
/// kernels, in eventlog. For all other events the system is the provider.
[[nodiscard]] kernel_trace_name parse_kernel_name(std::string_view system, std::string_view name);

/// Splits PROVIDER_EVENT at the shortest provider for which a pattern matches; nothing if there is
/// none.
[[nodiscard]] std::optional<kernel_trace_name> split_by_patterns(const kernel_trace_name& name,
                                                                 const event_patterns& patterns);

/// Position of the event in a published schema, if the kernel describes it with the same layout.
[[nodiscard]] std::optional<std::uint16_t> find_published(
    const kernel_trace_name& name, const eventlog::tracefs::event_format& format,
    const provider_schema& schema);

/// Offsets in payloads of the format's fields. A published event has the kernel's layout; a derived
/// one has the same order of fields, to which others may have been appended.
[[nodiscard]] std::vector<std::uint16_t> payload_offsets(
    const eventlog::tracefs::event_format& format, const event_schema& event, bool is_published);

/// An event derived from the kernel's description, without a name. Throws user_error if it exceeds
/// the limits of a schema.
[[nodiscard]] event_schema derive_event(const eventlog::tracefs::event_format& format);

}  // namespace elog
