// SPDX-License-Identifier: MIT
//
// Values as people read them: by type, and by the format, unit and enumeration that the schema
// names. elog(1) says how each looks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "schema/decode.hpp"
#include "schema/provider_schema.hpp"
#include "text/escaped_text.hpp"

namespace elog {

/// The bits of an integer, of a signed one with its sign in front; 0 of anything else.
[[nodiscard]] std::uint64_t bits_of(const field_value& value) noexcept;

/// 0x1f, of an integer of `size` bytes.
void append_hexadecimal(fmt::memory_buffer& out, std::uint64_t bits, std::size_t size);

/// The value's name, or several joined by |. Returns false if it has none and is shown as a number.
bool append_enumeration(fmt::memory_buffer& out, const enumeration_schema& enumeration,
                        const field_value& value);

/// An IP or MAC address, whose bytes are shown as a whole. Returns false if the field, which is
/// within the payload, holds none.
bool append_address(fmt::memory_buffer& out, const field_schema& field,
                    std::span<const std::uint8_t> payload);

/// The text in an array of char that is one. The field is within the payload.
[[nodiscard]] std::string_view characters_of(const field_schema& field,
                                             std::span<const std::uint8_t> payload);

/// A value without what the schema knows about it.
void append_value(fmt::memory_buffer& out, const field_value& value);

/// A field of a record, as the schema wants it to be shown.
void append_field(fmt::memory_buffer& out, const provider_schema& provider,
                  const field_schema& field, std::span<const std::uint8_t> payload);

/// One element of an array, as the schema wants it to be shown; damaged behind the end. A field
/// that is no array is its own first element.
void append_element(fmt::memory_buffer& out, const provider_schema& provider,
                    const field_schema& field, std::size_t element,
                    std::span<const std::uint8_t> payload);

}  // namespace elog
