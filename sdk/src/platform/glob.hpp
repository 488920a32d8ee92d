// SPDX-License-Identifier: MIT
//
// Patterns: * matches any run of characters, ? matches one.
#pragma once

#include <string_view>

namespace eventlog::core {

/// Whether all of `text` matches. Linear in practice, quadratic at worst, no recursion.
[[nodiscard]] bool glob_match(std::string_view pattern, std::string_view text) noexcept;

}  // namespace eventlog::core
