// SPDX-License-Identifier: MIT
//
// Limits that tests lower by environment variables, because reaching the usual ones takes minutes
// or files of many megabytes. The variables are not documented for users.
#pragma once

#include <cstdint>

namespace elog {

/// The variable's value; `usual` if it is not set. Throws user_error unless the value is a decimal
/// number from `least` to `most`.
[[nodiscard]] std::uint64_t test_override(const char* name, std::uint64_t usual,
                                          std::uint64_t least, std::uint64_t most);

}  // namespace elog
