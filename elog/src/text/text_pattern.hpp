// SPDX-License-Identifier: MIT
//
// Patterns for texts of events: * matches any run of characters, ? matches one character, and a
// backslash makes the next character an ordinary one.
#pragma once

#include <string_view>

namespace elog {

/// Whether all of `text` matches. A byte that is no part of UTF-8 counts as a character. Linear in
/// practice, quadratic at worst, no recursion.
[[nodiscard]] bool matches_pattern(std::string_view pattern, std::string_view text) noexcept;

}  // namespace elog
