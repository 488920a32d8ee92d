// SPDX-License-Identifier: MIT
//
// The scripts of elog/completions, which the build copies into the command.
#pragma once

#include <string_view>

namespace elog {

extern const std::string_view bash_completion;
extern const std::string_view fish_completion;
extern const std::string_view zsh_completion;

}  // namespace elog
