// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// What a command was answered with: numbers, in the order in which they are printed.
using answer = std::vector<double>;

/// A command: its name, and what stands behind it.
using words = std::vector<std::string>;

}  // namespace bench
