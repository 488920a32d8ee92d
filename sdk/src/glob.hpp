// SPDX-License-Identifier: MIT
//
// Patterns: * for any run of characters, ? for one. What a subscription asks for is a list of
// PROVIDER:EVENT patterns, each ended by NUL.
#pragma once

#include <string_view>

namespace eventlog::core {

/// Whether all of `text` matches. Linear in practice, quadratic at worst, no recursion.
[[nodiscard]] bool glob_match(std::string_view pattern, std::string_view text) noexcept;

/// Whether any pattern of the list wants this event. A pattern without ':' is ignored: the list
/// comes from shared memory and may be damaged.
[[nodiscard]] bool filter_wants(std::string_view filter, std::string_view provider,
                                std::string_view event) noexcept;

}  // namespace eventlog::core
