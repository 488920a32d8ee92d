// SPDX-License-Identifier: MIT
//
// The option -n: a query in one line.
#pragma once

#include <string>
#include <vector>

namespace elog {

/// Replaces "-n ONE-LINER" in front of the words by the command that it means; further words are
/// options of that command. Throws usage_error for an invalid one-liner.
void expand_one_liner(std::vector<std::string>& words);

}  // namespace elog
