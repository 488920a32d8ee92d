// SPDX-License-Identifier: MIT
//
// Helpers for the texts in files of tracefs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace eventlog::tracefs {

/// Copies a text returned by libtracefs and frees it; nothing for NULL.
[[nodiscard]] std::optional<std::string> take(char* text);

/// Removes the first line with its end from the text; empty for an empty text.
[[nodiscard]] std::string_view take_line(std::string_view& text) noexcept;

/// The number at the start of the text, whatever follows it; nothing if there is none.
[[nodiscard]] std::optional<std::uint64_t> leading_number(std::string_view text);

/// The number in the line "NAME: NUMBER"; 0 if there is none.
[[nodiscard]] std::uint64_t find_number(std::string_view text, std::string_view name);

}  // namespace eventlog::tracefs
