// SPDX-License-Identifier: MIT
//
// Patterns with * and ? by recursion over characters, as their definition says: the oracle for the
// matcher of elog.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace eventlog::test {

/// The characters of a text; a byte that is no part of UTF-8 is one. Knows only the sequences of
/// two to four bytes by their lengths: tests use no overlong forms.
inline std::vector<std::string_view> characters_of(std::string_view text) {
    std::vector<std::string_view> found;
    while (!text.empty()) {
        const auto lead = static_cast<unsigned char>(text[0]);
        std::size_t size = lead >= 0xf0 && lead < 0xf5   ? 4
                           : lead >= 0xe0 && lead < 0xf0 ? 3
                           : lead >= 0xc2 && lead < 0xe0 ? 2
                                                         : 1;
        for (std::size_t i = 1; i < size; ++i) {
            if (i == text.size() || (static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U) {
                size = 1;
            }
        }
        found.push_back(text.substr(0, size));
        text.remove_prefix(size);
    }
    return found;
}

/// Whether the characters of `text` from `t` on match those of `pattern` from `p` on.
inline bool matches_from(const std::vector<std::string_view>& pattern, std::size_t p,
                         const std::vector<std::string_view>& text, std::size_t t) {
    if (p == pattern.size()) {
        return t == text.size();
    }
    if (pattern[p] == "*") {
        return matches_from(pattern, p + 1, text, t) ||
               (t != text.size() && matches_from(pattern, p, text, t + 1));
    }
    if (t == text.size()) {
        return false;
    }
    if (pattern[p] == "?") {
        return matches_from(pattern, p + 1, text, t + 1);
    }
    const bool is_escaped = pattern[p] == "\\" && p + 1 != pattern.size();
    const std::size_t at = is_escaped ? p + 1 : p;
    return pattern[at] == text[t] && matches_from(pattern, at + 1, text, t + 1);
}

inline bool matches_independently(std::string_view pattern, std::string_view text) {
    return matches_from(characters_of(pattern), 0, characters_of(text), 0);
}

}  // namespace eventlog::test
