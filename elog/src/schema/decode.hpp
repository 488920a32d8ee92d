// SPDX-License-Identifier: MIT
//
// From a payload to values, by the schema that came with it. The payload may be anything: what does
// not fit the schema comes out as `damaged`, never as a wrong value.
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

/// Its elements are taken one by one, with decode_element.
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

/// One element of a field that is an array, or the field itself at 0. What is behind the end of the
/// array or the payload is damaged.
[[nodiscard]] field_value decode_element(const field_schema& field, std::size_t index,
                                         std::span<const std::uint8_t> payload) noexcept;

}  // namespace elog
