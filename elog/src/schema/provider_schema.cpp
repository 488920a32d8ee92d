// SPDX-License-Identifier: MIT
#include "schema/provider_schema.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/user_error.hpp"
#include "schema/schema.hpp"

namespace elog {
namespace {

// Each in the order of the enumeration's values.
constexpr std::array<std::string_view, 14> field_type_names{"bool", "char", "i8",   "i16",  "i32",
                                                            "i64",  "u8",   "u16",  "u32",  "u64",
                                                            "f32",  "f64",  "text", "bytes"};
constexpr std::array<std::string_view, 11> format_names{
    "plain",    "decimal",  "hexadecimal", "ip_address", "mac_address", "error_number",
    "duration", "realtime", "monotonic",   "byte_size",  "characters"};
constexpr std::array<std::string_view, 5> severity_names{"error", "warn", "info", "verbose",
                                                         "trace"};
constexpr std::array<std::string_view, 7> kind_names{
    "instant", "begin", "end", "gauge", "session_begin", "session_end", "state_complete"};
static_assert(field_type_names.size() == static_cast<std::size_t>(eventlog::field_type::bytes));
static_assert(format_names.size() == schema_format::format_last + 1U);
static_assert(severity_names.size() == static_cast<std::size_t>(eventlog::level::trace));
static_assert(kind_names.size() == schema_format::kind_last + 1U);

template <class Value, std::size_t Count>
std::string_view find_name(const std::array<std::string_view, Count>& names, Value value,
                           Value first) noexcept {
    const auto index = static_cast<std::size_t>(value) - static_cast<std::size_t>(first);
    return index < Count ? names[index] : "unknown";
}

void read_enumerations(eventlog::core::schema_reader& reader,
                       std::vector<enumeration_schema>& enumerations) {
    eventlog::core::enumeration_description enumeration;
    while (reader.next_enumeration(enumeration)) {
        enumeration_schema& added = enumerations.emplace_back();
        added.name = enumeration.name;
        added.is_bitmask = enumeration.is_bitmask;
        eventlog::core::value_description value;
        while (reader.next_value(value)) {
            added.values.emplace_back(value.value, value.name);
        }
    }
}

source_place place_of(const eventlog::core::source_description& source) {
    return {std::string(source.file), source.line};
}

event_schema read_event(eventlog::core::schema_reader& reader,
                        const eventlog::core::event_description& event) {
    event_schema read;
    read.name = event.name;
    read.description = event.description;
    read.when = event.when;
    read.severity = event.severity;
    read.kind = event.kind;
    read.session_bound = event.session_bound;
    read.truncates = event.truncates;
    read.keywords = event.keywords;
    read.fixed_size = event.fixed_size;
    read.source = place_of(event.source);
    eventlog::core::field_description field;
    while (reader.next_field(field)) {
        read.fields.push_back({std::string(field.name), field.type, field.offset, field.count,
                               field.presence, field.enumeration, field.format,
                               std::string(field.unit), std::string(field.description)});
    }
    return read;
}

}  // namespace

provider_schema provider_schema::parse(std::span<const std::uint8_t> bytes) {
    eventlog::core::schema_reader reader;
    eventlog::core::error_text error;
    if (!reader.open(bytes, error)) {
        throw user_error("{}", error.text().c_str());
    }
    provider_schema schema;
    schema.name = reader.provider();
    schema.hash = reader.hash();
    schema.binary.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(reader.size()));
    schema.description = reader.description();
    schema.source = place_of(reader.source());
    schema.unknown_attributes = reader.unknown_attributes();
    eventlog::core::keyword_description keyword;
    while (reader.next_keyword(keyword)) {
        schema.keywords.emplace_back(keyword.bit, keyword.name);
    }
    read_enumerations(reader, schema.enumerations);
    eventlog::core::event_description event;
    while (reader.next_event(event)) {
        schema.events.push_back(read_event(reader, event));
        schema.unknown_attributes += event.unknown_attributes;
    }
    return schema;
}

std::string_view name_of(eventlog::field_type type) noexcept {
    return find_name(field_type_names, type, eventlog::field_type::boolean);
}

std::string_view name_of(eventlog::format how) noexcept {
    return find_name(format_names, how, eventlog::format::plain);
}

std::string_view name_of(eventlog::level severity) noexcept {
    return find_name(severity_names, severity, eventlog::level::error);
}

std::string_view name_of(eventlog::kind what) noexcept {
    return find_name(kind_names, what, eventlog::kind::instant);
}

void add_unique(std::vector<provider_schema>& schemas, provider_schema added) {
    const bool known = std::any_of(schemas.begin(), schemas.end(), [&](const auto& schema) {
        return schema.binary == added.binary;
    });
    if (!known) {
        schemas.push_back(std::move(added));
    }
}

}  // namespace elog
