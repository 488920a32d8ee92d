// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elog {

/// Takes "--name VALUE" or "--name=VALUE" from the front of the words, and returns VALUE, which is
/// empty if it is missing. Nothing, if the option does not stand there.
[[nodiscard]] std::optional<std::string> take_leading_option(std::vector<std::string>& words,
                                                             std::string_view name);

}  // namespace elog
