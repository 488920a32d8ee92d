// SPDX-License-Identifier: MIT
//
// Reading the binary form of a schema, from anyone, without allocation.
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

#include "error_text.hpp"

namespace eventlog::core {

struct event_description {
    std::uint16_t id = 0;
    level severity = level::info;
    std::uint16_t fixed_size = 0;
    std::uint16_t field_count = 0;
    std::uint64_t keywords = 0;
    std::string_view name;
    std::string_view description;
};

struct field_description {
    field_type type{};
    std::uint16_t offset = 0;
    std::string_view name;
};

/// Views into the bytes given to open, which must outlive it.
class schema_reader {
  public:
    /// Checks the whole schema, hash included; `bytes` may be longer than it. After true the other
    /// calls cannot fail. After false `error` says what is wrong.
    [[nodiscard]] bool open(std::span<const std::uint8_t> bytes, error_text& error) noexcept;

    [[nodiscard]] std::string_view provider() const noexcept { return provider_; }
    [[nodiscard]] std::uint16_t event_count() const noexcept { return event_count_; }
    [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }

    /// The next event; skips what is left of the fields of the one before.
    [[nodiscard]] bool next_event(event_description& event) noexcept;
    /// The next field of the event that next_event gave last.
    [[nodiscard]] bool next_field(field_description& field) noexcept;

  private:
    [[nodiscard]] bool parse_header() noexcept;
    [[nodiscard]] bool check_event() noexcept;
    [[nodiscard]] bool number(std::size_t size, std::uint64_t& value) noexcept;
    [[nodiscard]] bool text(std::string_view& value) noexcept;
    [[nodiscard]] bool parse_event(event_description& event) noexcept;
    [[nodiscard]] bool parse_field(field_description& field) noexcept;

    std::span<const std::uint8_t> bytes_;
    std::size_t position_ = 0;
    std::size_t first_event_ = 0;
    std::string_view provider_;
    std::uint64_t hash_ = 0;
    std::uint16_t event_count_ = 0;
    std::uint16_t events_read_ = 0;
    std::uint16_t fields_left_ = 0;
};

}  // namespace eventlog::core
