// SPDX-License-Identifier: MIT
//
// What stands in the files of tracefs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace eventlog::tracefs {

/// What libtracefs has read, which is freed; nothing for NULL.
[[nodiscard]] std::optional<std::string> take(char* text);

/// Takes a line off the text, and what ends it. Of an empty text it is empty.
[[nodiscard]] std::string_view take_line(std::string_view& text) noexcept;

/// The number that the text begins with; what may follow is not looked at if no digit does.
[[nodiscard]] std::optional<std::uint64_t> leading_number(std::string_view text);

/// In lines of "NAME: NUMBER" that of this name; 0 if there is none.
[[nodiscard]] std::uint64_t find_number(std::string_view text, std::string_view name);

}  // namespace eventlog::tracefs
