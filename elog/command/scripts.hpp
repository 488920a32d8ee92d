// SPDX-License-Identifier: MIT
//
// elog -n and elog run: queries in one line and in files.
#pragma once

#include <string>
#include <vector>

namespace elog {

/// Replaces "-n SCRIPT" or "run FILE" in front of the words by the command that the script means;
/// further words are options of that command. Throws usage_error for an invalid script, and
/// user_error for a file that cannot be read.
void expand_script(std::vector<std::string>& words);

}  // namespace elog
