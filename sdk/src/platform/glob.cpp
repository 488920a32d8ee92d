// SPDX-License-Identifier: MIT
#include "platform/glob.hpp"

#include <cstddef>

namespace eventlog::core {
namespace {

/// The bytes of the first character of UTF-8; 1 for a byte that is no part of one.
std::size_t character_size(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < size) {
        return 1;
    }
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xc0U) != 0x80U) {
            return 1;
        }
    }
    const bool is_overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
    const bool is_no_character =
        (lead == 0xed && byte(1) > 0x9f) || (lead == 0xf4 && byte(1) > 0x8f);
    return is_overlong || is_no_character ? 1 : size;
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

bool glob_match(std::string_view pattern, std::string_view text) noexcept {
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

}  // namespace eventlog::core
