// SPDX-License-Identifier: MIT
//
// Options in front of the subcommand, which act before the command line is parsed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elog {

/// Whether the word is an option, such as -j or --json; a single - is none.
[[nodiscard]] bool is_option(std::string_view word) noexcept;

/// Removes "--name VALUE" or "--name=VALUE" from the front of the words and returns VALUE, which is
/// empty if it is missing. Returns nothing if the words begin differently.
[[nodiscard]] std::optional<std::string> take_leading_option(std::vector<std::string>& words,
                                                             std::string_view name);

}  // namespace elog
