// SPDX-License-Identifier: MIT
#include "glob.hpp"

namespace eventlog::core {

bool glob_match(std::string_view pattern, std::string_view text) noexcept {
    std::size_t p = 0;
    std::size_t t = 0;
    // Where to take up again behind the last star, if what follows it does not fit here.
    std::size_t star = std::string_view::npos;
    std::size_t resume = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = ++p;
            resume = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') {
        ++p;
    }
    return p == pattern.size();
}

bool filter_wants(std::string_view filter, std::string_view provider,
                  std::string_view event) noexcept {
    while (!filter.empty()) {
        const auto end = filter.find('\0');
        const std::string_view pattern = filter.substr(0, end);
        const auto colon = pattern.find(':');
        if (colon != std::string_view::npos && glob_match(pattern.substr(0, colon), provider) &&
            glob_match(pattern.substr(colon + 1), event)) {
            return true;
        }
        if (end == std::string_view::npos) {
            break;
        }
        filter.remove_prefix(end + 1);
    }
    return false;
}

}  // namespace eventlog::core
