// SPDX-License-Identifier: MIT
//
// Texts and byte strings on their way into a payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace eventlog::detail {

/// `size` is what it takes in the payload: a text counts its final NUL. 0 stands for a null
/// pointer, no value, no bytes.
struct var_field {
    const void* data;
    std::size_t size;
};

inline var_field measure(const char* text) noexcept {
    return {text, text == nullptr ? 0 : std::strlen(text) + 1};
}

/// What a record can carry. (EVENTLOG_RECORD_SIZE_MAX less the record's header.)
inline constexpr std::size_t payload_size_max = 65536 - 24;

/// Of a text that is cut to `size` bytes with its NUL: the same or less, so that it ends between
/// two characters of UTF-8. What is none is cut anywhere.
inline std::size_t whole_character_size(const char* text, std::size_t size) noexcept {
    const auto is_inside = [&](std::size_t byte) {
        return (static_cast<unsigned char>(text[byte]) & 0xc0U) == 0x80U;
    };
    std::size_t whole = size;
    for (int steps = 0; steps < 3 && whole > 1 && is_inside(whole - 1); ++steps) {
        --whole;
    }
    return whole > 1 && is_inside(whole - 1) ? size : whole;
}

/// Cuts the longest of `count` pieces until all of them, `excess` bytes fewer, fit; a text between
/// two characters of UTF-8, and never its NUL. `is_text` says which pieces are texts.
inline void cut_longest(var_field* var_fields, const bool* is_text, std::size_t count,
                        std::size_t excess) noexcept {
    while (excess != 0) {
        std::size_t longest = 0;
        std::size_t second = 1;
        for (std::size_t i = 1; i < count; ++i) {
            if (var_fields[i].size > var_fields[longest].size) {
                longest = i;
            }
        }
        for (std::size_t i = 0; i < count; ++i) {
            if (i != longest && var_fields[i].size > second) {
                second = var_fields[i].size;
            }
        }
        var_field& cut = var_fields[longest];
        // Down to the second longest, then evenly: one byte more, so that each turn takes some.
        const std::size_t step =
            cut.size > second ? cut.size - second : (excess + count - 1) / count;
        std::size_t size = cut.size - (step < excess ? step : excess);
        if (is_text[longest]) {
            size = whole_character_size(static_cast<const char*>(cut.data), size);
        }
        const std::size_t saved = cut.size - size;
        cut.size = size;
        excess -= saved < excess ? saved : excess;
    }
}

}  // namespace eventlog::detail
