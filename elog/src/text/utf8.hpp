// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace elog {

struct utf8_character {
    std::uint32_t code = 0;
    std::size_t length = 0;  // in bytes; 0: what is there is no character
};

/// The character at the beginning of a text that may be anything but empty. Forms that are too
/// long, surrogates and what is behind the last character are none.
[[nodiscard]] utf8_character first_character(std::string_view text) noexcept;

}  // namespace elog
