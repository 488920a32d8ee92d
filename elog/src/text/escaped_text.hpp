// SPDX-License-Identifier: MIT
//
// Text that is safe to show on a terminal: control and invisible characters are escaped.
#pragma once

#include <cstddef>
#include <string_view>

#include <fmt/format.h>

namespace elog {

/// Appends text that needs no escaping.
inline void append(fmt::memory_buffer& out, std::string_view text) {
    out.append(text.data(), text.data() + text.size());
}

/// Length of the well-formed UTF-8 character at the beginning that shows something; 0 if there is
/// none. Control characters U+0080 to U+009F count as none: terminals obey them.
[[nodiscard]] std::size_t printable_length(std::string_view text) noexcept;

/// Text from anywhere as it may be shown on a terminal: printable characters as they are,
/// everything else as \xHH, \n, \t or \r.
void append_visible(fmt::memory_buffer& out, std::string_view text);

/// The same in double quotes, with quotes and backslashes behind a backslash.
void append_quoted(fmt::memory_buffer& out, std::string_view text);

/// A byte as \n, \t, \r or \xHH.
void append_escaped(fmt::memory_buffer& out, unsigned char byte);

}  // namespace elog
