// SPDX-License-Identifier: MIT
#include "text/text_pattern.hpp"

#include <algorithm>
#include <cstddef>

#include "text/utf8.hpp"

namespace elog {
namespace {

std::size_t character_size(std::string_view text) noexcept {
    return std::max<std::size_t>(first_character(text).length, 1);
}

/// Removes an ordinary character from the beginning of both. Both are unchanged without one.
bool take_same(std::string_view& pattern, std::string_view& text) noexcept {
    const bool is_escaped = pattern.size() > 1 && pattern[0] == '\\';
    if (pattern[is_escaped ? 1 : 0] != text[0]) {
        return false;
    }
    pattern.remove_prefix(is_escaped ? 2 : 1);
    text.remove_prefix(1);
    return true;
}

}  // namespace

bool matches_pattern(std::string_view pattern, std::string_view text) noexcept {
    // Where to continue after a mismatch: the pattern behind the last star, and the text behind
    // what this star matches.
    std::string_view behind_star;
    std::string_view behind_matched;
    bool has_star = false;
    while (!text.empty()) {
        if (!pattern.empty() && pattern[0] == '*') {
            pattern.remove_prefix(1);
            behind_star = pattern;
            behind_matched = text;
            has_star = true;
        } else if (!pattern.empty() && pattern[0] == '?') {
            pattern.remove_prefix(1);
            text.remove_prefix(character_size(text));
        } else if (!pattern.empty() && take_same(pattern, text)) {
            continue;
        } else if (has_star) {
            behind_matched.remove_prefix(character_size(behind_matched));
            pattern = behind_star;
            text = behind_matched;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*') == std::string_view::npos;
}

}  // namespace elog
