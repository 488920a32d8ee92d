// SPDX-License-Identifier: MIT
//
// A trace event of the kernel as an event of ours: with the schema that its program has published,
// or with one made of what the kernel says about it.
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

/// What the kernel calls an event, as far as that says whose it is.
struct kernel_trace_name {
    std::string system;
    std::string provider;  // empty: the name does not say where the provider's ends
    std::string event;     // of ours: PROVIDER_EVENT
};

/// Whether the events of that system are those of programs, and not the kernel's own.
[[nodiscard]] bool is_program_system(std::string_view system) noexcept;

/// Takes a name apart. Events of programs are PROVIDER_EVENT in the system eventlog, and
/// eventlog_PROVIDER_EVENT, or that with a dot and a number, in user_events and, of patched
/// kernels, in eventlog; all others have their system as their provider.
[[nodiscard]] kernel_trace_name parse_kernel_name(std::string_view system, std::string_view name);

/// Which part of PROVIDER_EVENT is the provider: the shortest that some pattern wants, or nothing.
[[nodiscard]] std::optional<kernel_trace_name> split_by_patterns(const kernel_trace_name& name,
                                                                 const event_patterns& patterns);

/// The position of the event in a schema that a program has published, if the kernel has it in just
/// that form.
[[nodiscard]] std::optional<std::uint16_t> find_published(
    const kernel_trace_name& name, const eventlog::tracefs::event_format& format,
    const provider_schema& schema);

/// How payloads are made of records, for the event at that position of a published schema.
[[nodiscard]] eventlog::tracefs::payload_plan plan_for_published(
    const eventlog::tracefs::event_format& format, const event_schema& event);

/// An event without a name, made of what the kernel says, and how payloads are made of records.
/// Throws failure if that is more than an event can have.
struct derived_event {
    event_schema schema;
    eventlog::tracefs::payload_plan plan;
};
[[nodiscard]] derived_event derive_event(const eventlog::tracefs::event_format& format);

/// How payloads are made of records for such an event, which may have got fields more since.
[[nodiscard]] eventlog::tracefs::payload_plan plan_for_derived(
    const eventlog::tracefs::event_format& format, const event_schema& event);

}  // namespace elog
