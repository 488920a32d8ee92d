// SPDX-License-Identifier: MIT
#include "schema/provider_schema.hpp"

#include <algorithm>
#include <utility>

#include "base/user_error.hpp"
#include "schema/schema.hpp"

namespace elog {
namespace {

void read_enumerations(eventlog::core::schema_reader& reader,
                       std::vector<enumeration_schema>& enumerations) {
    eventlog::core::enumeration_description enumeration;
    while (reader.next_enumeration(enumeration)) {
        enumeration_schema& added = enumerations.emplace_back();
        added.name = enumeration.name;
        added.combines = enumeration.combines;
        eventlog::core::value_description value;
        while (reader.next_value(value)) {
            added.values.emplace_back(value.value, value.name);
        }
    }
}

event_schema read_event(eventlog::core::schema_reader& reader,
                        const eventlog::core::event_description& event) {
    event_schema read;
    read.name = event.name;
    read.description = event.description;
    read.meaning = event.meaning;
    read.severity = event.severity;
    read.kind = event.kind;
    read.session_bound = event.session_bound;
    read.cuts_texts = event.cuts_texts;
    read.keywords = event.keywords;
    read.fixed_size = event.fixed_size;
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
        throw user_error("{}", error.text());
    }
    provider_schema schema;
    schema.name = reader.provider();
    schema.hash = reader.hash();
    schema.binary.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(reader.size()));
    schema.description = reader.description();
    eventlog::core::keyword_description keyword;
    while (reader.next_keyword(keyword)) {
        schema.keywords.emplace_back(keyword.bit, keyword.name);
    }
    read_enumerations(reader, schema.enumerations);
    eventlog::core::event_description event;
    while (reader.next_event(event)) {
        schema.events.push_back(read_event(reader, event));
    }
    return schema;
}

std::string_view name_of(eventlog::field_type type) noexcept {
    using eventlog::field_type;
    switch (type) {
        case field_type::boolean:
            return "bool";
        case field_type::character:
            return "char";
        case field_type::signed_8:
            return "i8";
        case field_type::signed_16:
            return "i16";
        case field_type::signed_32:
            return "i32";
        case field_type::signed_64:
            return "i64";
        case field_type::unsigned_8:
            return "u8";
        case field_type::unsigned_16:
            return "u16";
        case field_type::unsigned_32:
            return "u32";
        case field_type::unsigned_64:
            return "u64";
        case field_type::float_32:
            return "f32";
        case field_type::float_64:
            return "f64";
        case field_type::text:
            return "text";
        case field_type::bytes:
            return "bytes";
    }
    return "unknown";
}

std::string_view name_of(eventlog::format how) noexcept {
    using eventlog::format;
    switch (how) {
        case format::plain:
            return "plain";
        case format::decimal:
            return "decimal";
        case format::hexadecimal:
            return "hexadecimal";
        case format::ip_address:
            return "ip_address";
        case format::mac_address:
            return "mac_address";
        case format::error_number:
            return "error_number";
        case format::duration:
            return "duration";
        case format::realtime:
            return "realtime";
        case format::monotonic:
            return "monotonic";
        case format::byte_size:
            return "byte_size";
        case format::characters:
            return "characters";
    }
    return "unknown";
}

std::string_view name_of(eventlog::level severity) noexcept {
    using eventlog::level;
    switch (severity) {
        case level::error:
            return "error";
        case level::warn:
            return "warn";
        case level::info:
            return "info";
        case level::verbose:
            return "verbose";
        case level::trace:
            return "trace";
    }
    return "unknown";
}

std::string_view name_of(eventlog::kind what) noexcept {
    using eventlog::kind;
    switch (what) {
        case kind::instant:
            return "instant";
        case kind::begin:
            return "begin";
        case kind::end:
            return "end";
        case kind::counter:
            return "counter";
        case kind::session_begin:
            return "session_begin";
        case kind::session_end:
            return "session_end";
        case kind::dump_complete:
            return "dump_complete";
    }
    return "unknown";
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
