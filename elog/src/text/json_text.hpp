// SPDX-License-Identifier: MIT
//
// Writes JSON strings and numbers.
#pragma once

#include <string_view>

#include <fmt/format.h>

namespace elog {

/// Appends a JSON string in quotes. Bytes that are not UTF-8 become U+FFFD, because JSON cannot
/// represent them. Control and invisible characters are escaped.
void append_json_text(fmt::memory_buffer& out, std::string_view text);

/// Appends complete, valid JSON of another writer. Control and invisible characters in its strings
/// are escaped as append_json_text does; its line ends stay.
void append_visible_json(fmt::memory_buffer& out, std::string_view json);

/// Appends "name": "value". The name must need no escaping; the value is untrusted.
void append_json_member(fmt::memory_buffer& out, const char* name, std::string_view value);

/// Appends a JSON number with all its digits; null for one that is not finite.
void append_json_number(fmt::memory_buffer& out, double number);

/// The text for a number that JSON does not have: NaN, Infinity or -Infinity.
[[nodiscard]] std::string_view name_of_infinite(double number) noexcept;

}  // namespace elog
