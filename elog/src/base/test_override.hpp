// SPDX-License-Identifier: MIT
//
// A limit that a test lowers by an environment variable, because it would otherwise need minutes or
// a file of many megabytes to reach it. No page describes these variables.
#pragma once

#include <cstdint>

namespace elog {

/// The variable's value; `usual` if it is not set. Throws failure unless it is a decimal number
/// from `least` to `most`.
[[nodiscard]] std::uint64_t test_override(const char* name, std::uint64_t usual,
                                          std::uint64_t least, std::uint64_t most);

}  // namespace elog
