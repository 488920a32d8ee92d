// SPDX-License-Identifier: MIT
//
// For a name that does not exist, the one that was most likely meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace elog {

/// " Did you mean 'name'?", or nothing: to be appended to a complaint. The name is the one that
/// takes the fewest changes, if they are few enough for a slip. Upper and lower case do not count
/// as different. Names that are far longer than any name are like nothing.
[[nodiscard]] std::string did_you_mean(std::string_view wanted,
                                       const std::vector<std::string_view>& names);

}  // namespace elog
