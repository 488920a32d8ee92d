// SPDX-License-Identifier: MIT
//
// Classifies characters of names and numbers in text of users: ASCII in every locale.
#pragma once

namespace elog {

[[nodiscard]] constexpr bool is_letter(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

[[nodiscard]] constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

/// The digit's value, or -1.
[[nodiscard]] constexpr int hexadecimal_digit(char c) noexcept {
    if (is_digit(c)) {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace elog
