// SPDX-License-Identifier: MIT
//
// Writes values for users: by type, and by the format, unit and enumeration of the schema.
// elog-output(7) specifies the output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "schema/decode.hpp"
#include "schema/provider_schema.hpp"
#include "text/escaped_text.hpp"
#include "text/wide_integer.hpp"

namespace elog {

/// The bits of an integer, sign-extended to 64; 0 for other values.
[[nodiscard]] std::uint64_t bits_of(const field_value& value) noexcept;

/// The integer; 0 for other values.
[[nodiscard]] wide_integer wide_of(const field_value& value) noexcept;

/// Appends an integer of `size` bytes as 0x1f.
void append_hexadecimal(fmt::memory_buffer& out, std::uint64_t bits, std::size_t size);

/// Appends nanoseconds since 1970 as a date and time in UTC, or as a number if 64 bits with a sign
/// do not hold them.
void append_time_point(fmt::memory_buffer& out, wide_integer nanoseconds);

/// Appends a number in a field's format, without the field's unit. `size`: of the field's type, for
/// hexadecimal numbers.
void append_number(fmt::memory_buffer& out, wide_integer number, eventlog::format format,
                   std::size_t size);

/// Appends the value's name, or several joined by |. Returns false if it has none and was appended
/// as a number.
bool append_enumeration(fmt::memory_buffer& out, const enumeration_schema& enumeration,
                        const field_value& value);

/// Appends an IP or MAC address. Returns false if the field's format is none. The field must be
/// within the payload.
bool append_address(fmt::memory_buffer& out, const field_schema& field,
                    std::span<const std::uint8_t> payload);

/// The text in an array of char, up to a NUL. The field must be within the payload.
[[nodiscard]] std::string_view characters_of(const field_schema& field,
                                             std::span<const std::uint8_t> payload);

/// Appends a value by its type alone.
void append_value(fmt::memory_buffer& out, const field_value& value);

/// Appends a field by its schema.
void append_field(fmt::memory_buffer& out, const provider_schema& provider,
                  const field_schema& field, std::span<const std::uint8_t> payload);

/// Appends an element of an array by its schema; "<damaged>" behind the end. A field that is no
/// array is its own first element.
void append_element(fmt::memory_buffer& out, const provider_schema& provider,
                    const field_schema& field, std::size_t element,
                    std::span<const std::uint8_t> payload);

}  // namespace elog
