// SPDX-License-Identifier: MIT
#include "cli/leading_option.hpp"

#include <cstddef>

namespace elog {

bool is_option(std::string_view word) noexcept {
    return word.size() > 1 && word.front() == '-';
}

std::optional<std::string> take_leading_option(std::vector<std::string>& words,
                                               std::string_view name) {
    if (words.empty() || words.front().compare(0, name.size(), name) != 0) {
        return std::nullopt;
    }
    std::string value;
    auto behind = words.begin() + 1;
    if (words.front().size() > name.size()) {
        if (words.front()[name.size()] != '=') {
            return std::nullopt;  // another option with the same beginning
        }
        value = words.front().substr(name.size() + 1);
    } else if (behind != words.end()) {
        value = *behind++;
    }
    words.erase(words.begin(), behind);
    return value;
}

}  // namespace elog
