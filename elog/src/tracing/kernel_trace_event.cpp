// SPDX-License-Identifier: MIT
#include "tracing/kernel_trace_event.hpp"

#include <algorithm>

#include "base/user_error.hpp"
#include "platform/glob.hpp"
#include "schema/filter.hpp"
#include "schema/schema_binary.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;
namespace tracefs = eventlog::tracefs;
using eventlog::field_type;

constexpr std::string_view system_of_module = "eventlog";
constexpr std::string_view single = "user_events";
constexpr std::string_view several = "user_events_multi";
constexpr std::string_view prefix = "eventlog_";

/// The suffix that make_name_unique of user_events_description.hpp appends.
bool is_hash(std::string_view text) noexcept {
    constexpr std::size_t size = 9;
    const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    return text.size() == size && text.front() == '_' &&
           std::all_of(text.begin() + 1, text.end(), is_digit);
}

bool is_called(std::string_view name, std::string_view provider, std::string_view event) noexcept {
    if (!name.starts_with(provider)) {
        return false;
    }
    name.remove_prefix(provider.size());
    if (!name.starts_with('_')) {
        return false;
    }
    name.remove_prefix(1);
    if (!name.starts_with(event)) {
        return false;
    }
    name.remove_prefix(event.size());
    return name.empty() || is_hash(name);
}

/// u8[] is bytes for the kernel, whether the program has bytes, booleans or numbers.
bool is_same_sequence(const tracefs::format_field& field, field_type elements) noexcept {
    if (elements == field_type::boolean || elements == field_type::unsigned_8) {
        return field.type == field_type::bytes;
    }
    return field.type == elements;
}

/// The kernel has no booleans, and describes a single character only as such.
bool is_same_type(const tracefs::format_field& field, const field_schema& known) noexcept {
    if (eventlog::is_variable(known.type, known.count)) {
        return field.where != tracefs::location::fixed &&
               (known.count != 0 || is_same_sequence(field, known.type));
    }
    const bool is_byte = known.type == field_type::boolean && field.type == field_type::unsigned_8;
    return field.where == tracefs::location::fixed && field.count == known.count &&
           (field.type == known.type || is_byte);
}

bool is_at(const tracefs::format_field& field, std::uint16_t offset) noexcept {
    return field.offset == tracefs::common_size + offset;
}

const tracefs::format_field* find_at(const tracefs::event_format& format,
                                     std::uint16_t offset) noexcept {
    const auto found = std::find_if(format.fields.begin(), format.fields.end(),
                                    [&](const auto& field) { return is_at(field, offset); });
    return found == format.fields.end() ? nullptr : &*found;
}

bool is_same(const tracefs::event_format& format, const event_schema& event) noexcept {
    std::size_t places = 0;
    for (const field_schema& known : event.fields) {
        const tracefs::format_field* const field = find_at(format, known.offset);
        if (field == nullptr || field->name != known.name || !is_same_type(*field, known)) {
            return false;
        }
        ++places;
        if (known.presence != schema_format::no_index) {
            const tracefs::format_field* const presence = find_at(format, known.presence);
            if (presence == nullptr || presence->size != 1) {
                return false;
            }
            ++places;
        }
    }
    return places == format.fields.size() &&
           format.fixed_size() == tracefs::common_size + event.fixed_size;
}

/// Ignores levels and keywords, which are known only with a schema.
bool is_wanted(const std::string& provider, const std::string& event,
               const event_patterns& patterns) {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        core::filter_rule rule;
        if (core::parse_rule(patterns[i], rule) && core::glob_match(rule.provider, provider) &&
            core::glob_match(rule.event, event)) {
            return true;
        }
    }
    return false;
}

}  // namespace

bool is_program_system(std::string_view system) noexcept {
    return system == system_of_module || system == single || system == several;
}

kernel_trace_name parse_kernel_name(std::string_view system, std::string_view name) {
    if (is_program_system(system)) {
        name = name.substr(0, name.find('.'));
    }
    // Patched kernels have events of user_events, with their prefix, in the system of the module.
    const bool has_prefix = is_program_system(system) && name.starts_with(prefix) &&
                            name.find('_', prefix.size()) != std::string_view::npos;
    if (has_prefix) {
        return {std::string(system), {}, std::string(name.substr(prefix.size()))};
    }
    if (system == system_of_module) {
        return {std::string(system), {}, std::string(name)};
    }
    return {std::string(system), tracefs::make_identifier(system), tracefs::make_identifier(name)};
}

std::optional<kernel_trace_name> split_by_patterns(const kernel_trace_name& name,
                                                   const event_patterns& patterns) {
    if (!name.provider.empty()) {
        return is_wanted(name.provider, name.event, patterns) ? std::optional(name) : std::nullopt;
    }
    for (std::size_t end = name.event.find('_', 1); end != std::string::npos;
         end = name.event.find('_', end + 1)) {
        const std::string provider = name.event.substr(0, end);
        const std::string event = name.event.substr(end + 1);
        const bool may_be = schema_format::is_identifier(provider.data(), provider.size()) &&
                            schema_format::is_identifier(event.data(), event.size());
        if (may_be && is_wanted(provider, event, patterns)) {
            return kernel_trace_name{name.system, provider, event};
        }
    }
    return std::nullopt;
}

std::optional<std::uint16_t> find_published(const kernel_trace_name& name,
                                            const tracefs::event_format& format,
                                            const provider_schema& schema) {
    if (!name.provider.empty()) {
        return std::nullopt;  // not an event of a program
    }
    for (std::size_t i = 0; i < schema.events.size(); ++i) {
        const event_schema& event = schema.events[i];
        if (is_called(name.event, schema.name, event.name) && is_same(format, event)) {
            return static_cast<std::uint16_t>(i);
        }
    }
    return std::nullopt;
}

std::vector<std::uint16_t> payload_offsets(const tracefs::event_format& format,
                                           const event_schema& event, bool is_published) {
    std::vector<std::uint16_t> offsets;
    for (std::size_t i = 0; i < format.fields.size(); ++i) {
        offsets.push_back(is_published ? static_cast<std::uint16_t>(format.fields[i].offset -
                                                                    tracefs::common_size)
                                       : event.fields[i].offset);
    }
    return offsets;
}

event_schema derive_event(const tracefs::event_format& format) {
    event_schema made;
    for (const tracefs::format_field& field : format.fields) {
        field_schema known;
        known.name = field.name;
        known.type = field.type;
        known.count = field.count;
        known.format = field.how;
        made.fields.push_back(std::move(known));
    }
    const std::size_t size = assign_offsets(made);
    if (size > fixed_size_max) {
        throw user_error("{}:{} has {} bytes, which no record has: leave it out.", format.system,
                         format.name, size);
    }
    return made;
}

}  // namespace elog
