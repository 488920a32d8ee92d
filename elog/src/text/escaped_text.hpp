// SPDX-License-Identifier: MIT
//
// Escapes control and invisible characters, so that untrusted text is safe on a terminal.
#pragma once

#include <cstddef>
#include <string_view>

#include <fmt/format.h>

namespace elog {

/// Appends text that needs no escaping.
inline void append(fmt::memory_buffer& out, std::string_view text) {
    out.append(text.data(), text.data() + text.size());
}

/// The length of the visible, well-formed UTF-8 character at the beginning of `text`, which is not
/// empty; 0 if there is none. Control characters U+0080 to U+009F are not visible: terminals
/// execute them.
[[nodiscard]] std::size_t printable_length(std::string_view text) noexcept;

/// Appends untrusted text for a terminal: visible characters unchanged, everything else as \xHH,
/// \n, \t or \r.
void append_visible(fmt::memory_buffer& out, std::string_view text);

/// The same with two backslashes for one: different texts stay different.
void append_distinct(fmt::memory_buffer& out, std::string_view text);

/// The same in double quotes, with a backslash before quotes as well.
void append_quoted(fmt::memory_buffer& out, std::string_view text);

/// Appends a byte as \n, \t, \r or \xHH.
void append_escaped(fmt::memory_buffer& out, unsigned char byte);

}  // namespace elog
