// SPDX-License-Identifier: MIT
//
// Decodes UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace elog {

struct utf8_character {
    std::uint32_t code = 0;
    std::size_t length = 0;  // in bytes; 0: no character
};

/// The character at the beginning of `text`, which is not empty. Overlong forms, surrogates and
/// codes above U+10FFFF are no characters.
[[nodiscard]] utf8_character first_character(std::string_view text) noexcept;

}  // namespace elog
