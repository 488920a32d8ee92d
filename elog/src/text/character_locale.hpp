// SPDX-License-Identifier: MIT
//
// Reads the character set of the user's locale from the environment.
#pragma once

#include <string_view>

namespace elog {

struct locale_choice {
    const char* variable = nullptr;  // the variable that decides; nullptr: none is set
    std::string_view name = "C";

    [[nodiscard]] bool is_utf8() const noexcept;
};

/// The first of LC_ALL, LC_CTYPE and LANG that is not empty. Valid until the environment changes.
[[nodiscard]] locale_choice character_locale() noexcept;

}  // namespace elog
