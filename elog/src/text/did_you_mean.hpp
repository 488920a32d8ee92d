// SPDX-License-Identifier: MIT
//
// Suggests the existing name that is closest to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace elog {

/// " Did you mean 'name'?", to be appended to an error message, or an empty string. The name is the
/// one with the smallest edit distance, ignoring case, if the distance is small enough for a typing
/// mistake. The wanted name itself is never suggested, and names of more than 128 characters are
/// never similar.
[[nodiscard]] std::string did_you_mean(std::string_view wanted,
                                       const std::vector<std::string_view>& names);

}  // namespace elog
