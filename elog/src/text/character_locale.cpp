// SPDX-License-Identifier: MIT
#include "text/character_locale.hpp"

#include <cstdlib>

namespace elog {

bool locale_choice::is_utf8() const noexcept {
    return name.find("UTF-8") != std::string_view::npos ||
           name.find("utf8") != std::string_view::npos;
}

locale_choice character_locale() noexcept {
    for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* value = std::getenv(variable);
        if (value != nullptr && *value != '\0') {
            return {variable, value};
        }
    }
    return {};
}

}  // namespace elog
