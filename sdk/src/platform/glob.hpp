// SPDX-License-Identifier: MIT
//
// Patterns: * matches any run of characters, ? matches one character of UTF-8, and a backslash
// makes the next character an ordinary one.
#pragma once

#include <string_view>

namespace eventlog::core {

/// Whether all of `text` matches. A byte that is no part of UTF-8 counts as a character. Linear in
/// practice, quadratic at worst, no recursion.
[[nodiscard]] bool glob_match(std::string_view pattern, std::string_view text) noexcept;

}  // namespace eventlog::core
