// SPDX-License-Identifier: MIT
//
// elog -n and elog run: queries in one line and in files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "script/script.hpp"

namespace elog {

/// The text of a script and where it is from.
struct script_input {
    std::string text;
    std::string file{};         // empty: the command line
    std::string option = "-n";  // of the command line

    /// Throws usage_error for a file that is too long, and user_error for one that cannot be read.
    [[nodiscard]] static script_input from_file(const std::string& path);

    /// Calls a function. A mistake that it finds in the script is a syntax_error with the line, the
    /// column, and the line with a caret.
    void locate_mistakes(const std::function<void()>& function) const;
    [[nodiscard]] script parse() const;
};

/// Replaces "-n SCRIPT" or "run FILE" in front of the words by the command that the script means:
/// elog record, elog agg, or elog run. Further words are options of that command. Throws
/// usage_error for an invalid script, and user_error for a file that cannot be read.
void expand_script(std::vector<std::string>& words);

}  // namespace elog
