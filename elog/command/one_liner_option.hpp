// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace elog {

/// If "-n ONE-LINER" stands in front of the words, puts the command in its place that means the
/// same; what stands behind it are options of that command. Throws usage_error for what is none.
void expand_one_liner(std::vector<std::string>& words);

}  // namespace elog
