// SPDX-License-Identifier: MIT
//
// Messages about mistakes in scripts: the place as a line and a column, and the line with a caret.
#pragma once

#include <string>
#include <string_view>

namespace elog {

struct script_mistake {
    std::string message;
    std::string excerpt;  // two lines, the mistake's and a caret below it; empty: none is known
};

/// Converts "script, column N: REASON" to "FILE:LINE:COLUMN: REASON", or, without a file, to
/// "-n, column COLUMN: REASON" with the line if the text has several. Other messages do not change.
/// `option` replaces -n.
[[nodiscard]] script_mistake locate_mistake(std::string_view message, std::string_view text,
                                            std::string_view file, std::string_view option = "-n");

}  // namespace elog
