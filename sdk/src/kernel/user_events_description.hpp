// SPDX-License-Identifier: MIT
//
// How user_events is told what an event looks like: one line of text.
//
//     eventlog_shop_order_placed u64 number; __rel_loc char[] customer; u8 has_customer
//
// The kernel lays the fields out in the order in which they are named, without holes. That is how a
// payload is laid out, so the text names them by their offset, and then the payload goes to the
// kernel as it is. What becomes of the schema's types:
//
//     integers, boolean    u8 to u64, s8 to s64
//     character            char
//     float_32, float_64   struct f32 NAME 4, struct f64 NAME 8: there are no floating-point types,
//                          and a reader that knows none sees an integer of that size
//     text                 __rel_loc char[]
//     bytes                __rel_loc u8[] (char[] would have to end in a NUL)
//     array of characters  char[COUNT]
//     other arrays         struct u16x8 NAME 16 (the kernel has no arrays but those of char, which
//                          it would show as text)
//     presence byte        u8 has_NAME
//
// Nested structs are flattened in the schema already.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernel/user_events_abi.hpp"
#include "platform/error_text.hpp"
#include "schema/schema.hpp"

namespace eventlog::core {

/// In front of the provider's name, as the system user_events is everybody's.
inline constexpr std::string_view user_events_prefix = "eventlog_";

/// Makes descriptions. Several KiB: not for a signal stack.
class user_events_description {
  public:
    /// Describes the event that `schema.next_event` gave last. On failure `error` says why it
    /// cannot be described: "its description is longer ...".
    /// Its name begins with `prefix`, which tells it from events of others.
    [[nodiscard]] bool describe(schema_reader& schema, const event_description& event,
                                error_text& error,
                                std::string_view prefix = user_events_prefix) noexcept;

    /// The same event by a name of its own, for a kernel that has one with this name and other
    /// fields: a hash of the description is added to it. False if it gets too long.
    [[nodiscard]] bool make_name_unique() noexcept;

    /// Ends with NUL.
    [[nodiscard]] const char* description() const noexcept { return text_.data(); }

  private:
    /// A field, or the presence byte of one.
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

    std::array<described_field, 2 * fields_max> fields_{};
    std::size_t field_count_ = 0;
    std::array<char, user_events_description_max> text_{};
    std::size_t size_ = 0;       // of the text
    std::size_t name_size_ = 0;  // of the event's name in it
};

}  // namespace eventlog::core
