// SPDX-License-Identifier: MIT
//
// The description of an event for user_events: one line of text.
//
//     eventlog_shop_order_placed u64 number; __rel_loc char[] customer; u8 has_customer
//
// The kernel lays fields out in the order of the text, without holes. Payloads have the same
// layout, so the text lists the fields by offset, and payloads are written to the kernel unchanged.
// The types of a schema become:
//
//     integers, boolean    u8 to u64, s8 to s64
//     character            char
//     float_32, float_64   struct f32 NAME 4, struct f64 NAME 8: the kernel has no floating-point
//                          types, and a reader that does not know these shows an integer
//     text                 __rel_loc char[]
//     bytes                __rel_loc u8[] (char[] would need a NUL at its end)
//     array of characters  char[COUNT]
//     other arrays         struct u16x8 NAME 16 (the kernel has arrays of char only, and shows
//                          them as text)
//     presence byte        u8 has_NAME
//
// Nested structs are already flattened in the schema.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernel/user_events_abi.hpp"
#include "platform/error_text.hpp"
#include "schema/schema.hpp"

namespace eventlog::core {

/// Prefix of the provider's name, because all users share the system user_events.
inline constexpr std::string_view user_events_prefix = "eventlog_";

/// Builds descriptions. Several KiB: not for a signal stack.
class user_events_description {
  public:
    /// Describes the event that `schema.next_event` returned last. Its name starts with `prefix`.
    /// On failure `error` is the end of a sentence: "its description would be longer ...".
    [[nodiscard]] bool describe(schema_reader& schema, const event_description& event,
                                error_text& error,
                                std::string_view prefix = user_events_prefix) noexcept;

    /// Appends a hash of the description to the name, for a kernel that has an event of this name
    /// with other fields. False if the description gets too long.
    [[nodiscard]] bool make_name_unique() noexcept;

    /// NUL-terminated.
    [[nodiscard]] const char* description() const noexcept { return text_.data(); }

  private:
    /// A field, or the presence byte of a field.
    struct described_field {
        std::uint16_t offset = 0;
        std::uint16_t count = 1;
        field_type type{};
        bool presence = false;
        std::string_view name;
    };

    [[nodiscard]] bool collect(schema_reader& schema) noexcept;
    [[nodiscard]] bool has_no_holes(std::size_t fixed_size) const noexcept;
    [[nodiscard]] bool is_taken(std::string_view name, unsigned underscores) const noexcept;
    [[nodiscard]] bool put_field(const described_field& described) noexcept;
    [[nodiscard]] bool put_presence(std::string_view name) noexcept;
    [[nodiscard]] bool put(std::string_view part) noexcept;
    [[nodiscard]] bool put_number(std::size_t number) noexcept;

    std::array<described_field, 2 * schema_format::fields_max> fields_{};
    std::size_t field_count_ = 0;
    std::array<char, user_events_description_max> text_{};
    std::size_t size_ = 0;       // of the text
    std::size_t name_size_ = 0;  // of the event's name in the text
};

}  // namespace eventlog::core
