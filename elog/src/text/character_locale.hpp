// SPDX-License-Identifier: MIT
//
// What the environment says about characters.
#pragma once

#include <string_view>

namespace elog {

struct locale_choice {
    const char* variable = nullptr;  // that decides; none: nobody has chosen
    std::string_view name = "C";

    [[nodiscard]] bool is_utf8() const noexcept;
};

/// LC_ALL, LC_CTYPE or LANG: the first that is not empty. Valid until the environment changes.
[[nodiscard]] locale_choice character_locale() noexcept;

}  // namespace elog
