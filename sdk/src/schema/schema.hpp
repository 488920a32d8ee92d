// SPDX-License-Identifier: MIT
//
// Reader of the binary form of a schema from an untrusted source, without allocation.
//
//     schema_reader schema;
//     if (schema.open(bytes, error)) {
//         event_description event;
//         while (schema.next_event(event)) {
//             field_description field;
//             while (schema.next_field(field)) ...
//         }
//     }
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <eventlog/schema_format.hpp>

#include "platform/error_text.hpp"

namespace eventlog::core {

struct keyword_description {
    unsigned bit = 0;
    std::string_view name;
};

struct enumeration_description {
    std::string_view name;
    std::uint16_t value_count = 0;
    bool is_bitmask = false;
};

struct value_description {
    std::uint64_t value = 0;  // two's complement of the field's value
    std::string_view name;
};

/// The line of a program that declares a provider or an event.
struct source_description {
    std::string_view file;   // without directories
    std::uint32_t line = 0;  // 0: unknown
};

struct event_description {
    std::uint16_t id = 0;
    level severity = level::info;
    eventlog::kind kind = eventlog::kind::instant;
    bool session_bound = false;
    bool truncates = false;
    std::uint16_t fixed_size = 0;
    std::uint16_t field_count = 0;
    std::uint64_t keywords = 0;
    std::string_view name;
    std::string_view description;
    std::string_view when;
    source_description source;
    unsigned unknown_attributes = 0;
};

struct field_description {
    field_type type{};
    eventlog::format format{};
    std::uint16_t count = 1;
    std::uint16_t offset = 0;
    std::uint16_t presence = schema_format::no_index;
    std::uint16_t enumeration = schema_format::no_index;
    std::string_view name;
    std::string_view unit;
    std::string_view description;
};

/// Returns views into the bytes given to open, which must outlive the reader.
class schema_reader {
  public:
    /// Validates the whole schema including its hash; `bytes` may be longer than the schema. After
    /// true the other calls cannot fail. After false `error` holds the message.
    [[nodiscard]] bool open(std::span<const std::uint8_t> bytes, error_text& error) noexcept;

    [[nodiscard]] std::string_view provider() const noexcept { return provider_; }
    [[nodiscard]] std::string_view description() const noexcept { return description_; }
    [[nodiscard]] const source_description& source() const noexcept { return source_; }
    [[nodiscard]] std::uint16_t event_count() const noexcept { return event_count_; }
    [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
    /// The number of attributes of the provider that were skipped; event_description has those of
    /// an event.
    [[nodiscard]] unsigned unknown_attributes() const noexcept { return unknown_attributes_; }

    /// The lists of keywords, enumerations and events have independent positions.
    [[nodiscard]] bool next_keyword(keyword_description& keyword) noexcept;
    [[nodiscard]] bool next_enumeration(enumeration_description& enumeration) noexcept;
    /// The next value of the enumeration that next_enumeration returned last.
    [[nodiscard]] bool next_value(value_description& value) noexcept;
    /// The next event; skips the unread fields of the previous one.
    [[nodiscard]] bool next_event(event_description& event) noexcept;
    /// The next field of the event that next_event returned last.
    [[nodiscard]] bool next_field(field_description& field) noexcept;

  private:
    /// A position in the bytes, and the number of list items left from there.
    struct cursor {
        std::size_t position = 0;
        unsigned left = 0;
        unsigned parts_left = 0;  // of the previous item: values or fields
    };

    [[nodiscard]] bool parse_header(cursor& at) noexcept;
    [[nodiscard]] bool check_keywords(cursor& at) noexcept;
    [[nodiscard]] bool check_enumerations(cursor& at) noexcept;
    [[nodiscard]] bool check_event(cursor& at) noexcept;
    template <class Number>
    [[nodiscard]] bool number(cursor& at, Number& value) const noexcept;
    [[nodiscard]] bool text(cursor& at, std::string_view& value) const noexcept;
    [[nodiscard]] bool name(cursor& at, std::string_view& value) const noexcept;
    [[nodiscard]] bool parse_attributes(cursor& at, unsigned count, source_description& source,
                                        unsigned& unknown) const noexcept;
    [[nodiscard]] bool parse_source(cursor at, std::size_t size,
                                    source_description& source) const noexcept;
    [[nodiscard]] bool parse_keyword(cursor& at, keyword_description& keyword) const noexcept;
    [[nodiscard]] bool parse_enumeration(cursor& at,
                                         enumeration_description& enumeration) const noexcept;
    [[nodiscard]] bool parse_value(cursor& at, value_description& value) const noexcept;
    [[nodiscard]] bool parse_event(cursor& at, event_description& event) const noexcept;
    [[nodiscard]] bool parse_field(cursor& at, field_description& field) const noexcept;

    std::span<const std::uint8_t> bytes_;
    cursor keywords_;
    cursor enumerations_;
    cursor events_;
    std::string_view provider_;
    std::string_view description_;
    source_description source_;
    std::uint64_t hash_ = 0;
    std::uint16_t event_count_ = 0;
    std::uint16_t enumeration_count_ = 0;
    unsigned unknown_attributes_ = 0;
};

}  // namespace eventlog::core
