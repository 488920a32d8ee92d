// SPDX-License-Identifier: MIT
#include "text/locale_name.hpp"

#include <cstdlib>

namespace elog {

bool locale_choice::is_utf8() const noexcept {
    return name.find("UTF-8") != std::string_view::npos ||
           name.find("utf8") != std::string_view::npos;
}

locale_choice locale_of_characters() noexcept {
    for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* value = std::getenv(variable);
        if (value != nullptr && *value != '\0') {
            return {variable, value};
        }
    }
    return {};
}

}  // namespace elog
