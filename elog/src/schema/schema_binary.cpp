// SPDX-License-Identifier: MIT
#include "schema/schema_binary.hpp"

#include <string_view>

#include <eventlog/detail/source_name.hpp>

#include "base/user_error.hpp"

namespace elog {
namespace {

constexpr std::size_t size_offset = 8;
constexpr std::size_t hash_offset = 16;

class sink {
  public:
    explicit sink(std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}

    void number(std::uint64_t value, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) {
            bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
        }
    }
    void number_at(std::size_t place, std::uint64_t value, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) {
            bytes_[place + i] = static_cast<std::uint8_t>(value >> (8 * i));
        }
    }
    void text(std::string_view text) {
        number(text.size(), 1);
        bytes_.insert(bytes_.end(), text.begin(), text.end());
    }

  private:
    std::vector<std::uint8_t>& bytes_;
};

void write_source(sink& out, const source_place& source) {
    if (source.line != 0) {
        eventlog::detail::write_source(out, source.file, source.line);
    }
}

void write_header(sink& out, const provider_schema& schema) {
    out.number(schema_format::magic, 4);
    out.number(schema_format::version, 2);
    out.number(schema.events.size(), 2);
    out.number(0, 4);  // the size
    out.number(schema.enumerations.size(), 2);
    out.number(schema.keywords.size(), 1);
    out.number(schema.source.line == 0 ? 0 : 1, 1);  // attributes
    out.number(0, 8);                                // the hash
    out.text(schema.name);
    out.text(schema.description);
    write_source(out, schema.source);
}

void write_enumeration(sink& out, const enumeration_schema& enumeration) {
    out.number(enumeration.is_bitmask ? schema_format::enumeration_combines : 0, 1);
    out.number(enumeration.values.size(), 2);
    out.text(enumeration.name);
    for (const auto& [value, name] : enumeration.values) {
        out.number(value, 8);
        out.text(name);
    }
}

void write_field(sink& out, const field_schema& field) {
    out.number(static_cast<std::uint8_t>(field.type), 1);
    out.number(static_cast<std::uint8_t>(field.format), 1);
    out.number(field.count, 2);
    out.number(field.offset, 2);
    out.number(field.presence, 2);
    out.number(field.enumeration, 2);
    out.text(field.name);
    out.text(field.unit);
    out.text(field.description);
}

void write_event(sink& out, const event_schema& event) {
    out.number(static_cast<std::uint8_t>(event.severity), 1);
    out.number(static_cast<std::uint8_t>(event.kind), 1);
    out.number((event.session_bound ? schema_format::event_session_bound : 0U) |
                   (event.truncates ? schema_format::event_truncates : 0U),
               1);
    out.number(event.source.line == 0 ? 0 : 1, 1);  // attributes
    out.number(event.fixed_size, 2);
    out.number(event.fields.size(), 2);
    out.number(event.keywords, 8);
    out.text(event.name);
    out.text(event.description);
    out.text(event.when);
    write_source(out, event.source);
    for (const field_schema& field : event.fields) {
        write_field(out, field);
    }
}

/// In the fixed part, where a sequence is a u32.
std::size_t alignment_of(const field_schema& field) noexcept {
    return field.count == 0 ? sizeof(std::uint32_t) : eventlog::size_of(field.type);
}

}  // namespace

std::size_t assign_offsets(event_schema& event) {
    std::size_t size = 0;
    for (const field_schema& field : event.fields) {
        size += eventlog::fixed_size_of(field.type, field.count);
        size += field.presence == schema_format::no_index ? 0 : 1;
    }
    if (size > fixed_size_max) {
        return size;
    }
    std::size_t offset = 0;
    for (const std::size_t alignment : {8U, 4U, 2U, 1U}) {
        for (field_schema& field : event.fields) {
            if (alignment_of(field) == alignment) {
                field.offset = static_cast<std::uint16_t>(offset);
                offset += eventlog::fixed_size_of(field.type, field.count);
            }
        }
    }
    for (field_schema& field : event.fields) {
        if (field.presence != schema_format::no_index) {
            field.presence = static_cast<std::uint16_t>(offset++);
        }
    }
    event.fixed_size = static_cast<std::uint16_t>(offset);
    return offset;
}

void remove_sources(provider_schema& schema) {
    schema.source = {};
    for (event_schema& event : schema.events) {
        event.source = {};
    }
    write_binary(schema);
}

void write_binary(provider_schema& schema) {
    schema.binary.clear();
    sink out(schema.binary);
    write_header(out, schema);
    for (const auto& [bit, name] : schema.keywords) {
        out.number(bit, 1);
        out.text(name);
    }
    for (const enumeration_schema& enumeration : schema.enumerations) {
        write_enumeration(out, enumeration);
    }
    for (const event_schema& event : schema.events) {
        write_event(out, event);
    }
    if (schema.binary.size() > schema_format::size_max) {
        throw user_error(
            "The schema takes {} bytes in its binary form, and may take {}. Split the provider in "
            "two, or shorten its descriptions.",
            schema.binary.size(), schema_format::size_max);
    }
    out.number_at(size_offset, schema.binary.size(), 4);
    schema.hash = schema_format::fnv1a_start;
    for (const std::uint8_t byte : schema.binary) {
        schema.hash = schema_format::fnv1a(schema.hash, byte);
    }
    out.number_at(hash_offset, schema.hash, 8);
}

}  // namespace elog
