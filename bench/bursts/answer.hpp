// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// The answer to a command: numbers in the order of output.
using answer = std::vector<double>;

/// A command: its name and its arguments.
using words = std::vector<std::string>;

}  // namespace bench
