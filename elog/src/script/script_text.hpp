// SPDX-License-Identifier: MIT
//
// Pieces of a script's text that know their position, for the parser of scripts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace elog {

inline constexpr std::string_view script_blanks = " \t\r\n";

/// A part of the text with its position in bytes.
struct script_piece {
    std::string_view text{};
    std::size_t at = 0;

    [[nodiscard]] bool empty() const noexcept { return text.empty(); }
    [[nodiscard]] bool begins(std::string_view with) const noexcept {
        return text.starts_with(with);
    }
    [[nodiscard]] script_piece first(std::size_t size) const noexcept {
        return {text.substr(0, size), at};
    }
    [[nodiscard]] script_piece behind(std::size_t size) const noexcept {
        const std::size_t skipped = std::min(size, text.size());
        return {text.substr(skipped), at + skipped};
    }
    [[nodiscard]] script_piece trimmed() const noexcept;
    /// The letters, digits and underscores at the beginning.
    [[nodiscard]] std::string_view word() const noexcept;
};

/// The position of the closing quote of the text that begins at `at`; the size if there is none.
[[nodiscard]] std::size_t end_of_quoted(std::string_view text, std::size_t at) noexcept;

/// The first position outside of quotes, parentheses and brackets for which `fits` is true, or
/// npos.
template <class Fits>
[[nodiscard]] std::size_t find_outside(std::string_view text, const Fits& fits) {
    std::size_t depth = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char found = text[at];
        if (found == '"' || found == '\'') {
            at = end_of_quoted(text, at);
        } else if (depth == 0 && fits(at)) {
            return at;
        } else if (found == '(' || found == '[') {
            ++depth;
        } else if ((found == ')' || found == ']') && depth > 0) {
            --depth;
        }
    }
    return std::string_view::npos;
}

[[nodiscard]] inline std::size_t find_outside(std::string_view text, char wanted) {
    return find_outside(text, [&](std::size_t at) { return text[at] == wanted; });
}

/// Replaces lines that begin with # by blanks, so that positions stay.
[[nodiscard]] std::string without_comments(std::string_view text);

/// The characters before that byte, plus 1.
[[nodiscard]] std::size_t column_of(std::string_view text, std::size_t at) noexcept;

}  // namespace elog
