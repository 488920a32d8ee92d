// SPDX-License-Identifier: MIT
//
// Files that are made of other files.
#pragma once

#include <string>

namespace elog {

/// Throws failure if both names are of one file: it would be emptied before it has been read.
void refuse_overwriting(const std::string& from, const std::string& to);

}  // namespace elog
