// SPDX-License-Identifier: MIT
//
// What a command line may go on with. This is the same for all shells; completion_scripts.hpp has
// what asks for it in each of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace elog {

struct candidate {
    std::string word;
    std::string description;  // one line, or empty
};

/// The shell knows files and commands better than we do.
enum class shell_completion { nothing, files, commands };

struct completion {
    std::vector<candidate> candidates;  // that begin with what has been typed of the last word
    shell_completion rest = shell_completion::nothing;
};

/// The values of that kind that there are now.
using value_lookup = std::function<std::vector<candidate>(value_kind kind)>;

/// `words` stand behind "elog", the last one as far as it has been typed, which may be not at all.
[[nodiscard]] completion complete(const std::vector<subcommand_description>& commands,
                                  const std::vector<std::string>& words,
                                  const value_lookup& look_up);

}  // namespace elog
