// SPDX-License-Identifier: MIT
#include "provider_schema.hpp"

#include "failure.hpp"
#include "schema.hpp"

namespace elog {

provider_schema provider_schema::parse(std::span<const std::uint8_t> bytes) {
    eventlog::core::schema_reader reader;
    eventlog::core::error_text error;
    if (!reader.open(bytes, error)) {
        throw failure("{}", error.text());
    }
    provider_schema schema;
    schema.name = reader.provider();
    schema.hash = reader.hash();
    schema.binary.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(reader.size()));
    eventlog::core::event_description event;
    while (reader.next_event(event)) {
        event_schema& added = schema.events.emplace_back();
        added.name = event.name;
        added.description = event.description;
        added.severity = event.severity;
        added.keywords = event.keywords;
        added.fixed_size = event.fixed_size;
        eventlog::core::field_description field;
        while (reader.next_field(field)) {
            added.fields.push_back({std::string(field.name), field.type, field.offset});
        }
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
    }
    return "unknown";
}

}  // namespace elog
