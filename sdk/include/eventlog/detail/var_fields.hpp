// SPDX-License-Identifier: MIT
//
// Variable fields, which are texts, byte strings and sequences, and how they are truncated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <eventlog/schema_format.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

/// `size` is the size in the payload; that of a text includes its final NUL. 0 stands for a null
/// pointer, no value, no bytes or no elements.
struct var_field {
    const void* data;
    std::size_t size;
};

inline var_field measure(const char* text) noexcept {
    return {text, text == nullptr ? 0 : std::strlen(text) + 1};
}

/// The largest payload of a record: EVENTLOG_RECORD_SIZE_MAX less the record's header.
inline constexpr std::size_t payload_size_max = 65536 - 24;

/// Reduces the size of a truncated text, `size` bytes with its NUL, so that it ends between two
/// characters of UTF-8. Text that is not UTF-8 is truncated anywhere.
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

/// The unit of a variable field is the size of its elements, or this one.
inline constexpr std::uint8_t unit_of_text = 0;

constexpr std::uint8_t unit_of(field_type type) {
    return type == field_type::text    ? unit_of_text
           : type == field_type::bytes ? std::uint8_t{1}
                                       : static_cast<std::uint8_t>(size_of(type));
}

/// Cuts the longest of `count` variable fields until their total is `excess` bytes smaller: a text
/// between two characters of UTF-8, and never its NUL; a sequence between two elements.
inline void cut_longest(var_field* var_fields, const std::uint8_t* units, std::size_t count,
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
        // Down to the second longest, then evenly; rounded up, so that each iteration cuts
        // something.
        const std::size_t step =
            cut.size > second ? cut.size - second : (excess + count - 1) / count;
        std::size_t size = cut.size - (step < excess ? step : excess);
        if (units[longest] == unit_of_text) {
            size = whole_character_size(static_cast<const char*>(cut.data), size);
        } else {
            size -= size % units[longest];
        }
        const std::size_t saved = cut.size - size;
        cut.size = size;
        excess -= saved < excess ? saved : excess;
    }
}

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
