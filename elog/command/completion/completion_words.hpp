// SPDX-License-Identifier: MIT
//
// Completion of a command line, the same for all shells. The scripts in elog/completions print the
// result.
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

/// Candidates that the shell finds itself.
enum class shell_completion { nothing, files, commands };

struct completion {
    std::vector<candidate> candidates;  // with the beginning of the last word
    shell_completion rest = shell_completion::nothing;
};

/// Returns the current values of a kind.
using value_lookup = std::function<std::vector<candidate>(value_kind kind)>;

/// `words` are those after "elog", the last one as far as it was typed, possibly empty.
[[nodiscard]] completion complete(const std::vector<subcommand_description>& commands,
                                  const std::vector<std::string>& words,
                                  const value_lookup& look_up);

}  // namespace elog
