// SPDX-License-Identifier: MIT
//
// Decodes a payload by its schema.
//
// The payload is untrusted: a field that does not fit the schema is damaged_value, never a wrong
// value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <variant>

#include "schema/provider_schema.hpp"

namespace elog {

struct null_text {};
struct absent_value {};  // of an optional field
struct damaged_value {};

/// An array or sequence; decode_element returns its elements.
struct array_value {
    std::size_t count = 0;
};

using byte_string = std::span<const std::uint8_t>;

/// Views point into the payload.
using field_value =
    std::variant<bool, char, std::int64_t, std::uint64_t, float, double, std::string_view,
                 null_text, damaged_value, absent_value, array_value, byte_string>;

[[nodiscard]] field_value decode_field(const field_schema& field,
                                       std::span<const std::uint8_t> payload) noexcept;

/// The element of an array or sequence, or the field itself at index 0. damaged_value behind the
/// end of the array or the payload.
[[nodiscard]] field_value decode_element(const field_schema& field, std::size_t index,
                                         std::span<const std::uint8_t> payload) noexcept;

}  // namespace elog
