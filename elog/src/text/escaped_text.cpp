// SPDX-License-Identifier: MIT
#include "text/escaped_text.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "text/append_format.hpp"
#include "text/utf8.hpp"

namespace elog {
namespace {

/// The number of characters at the beginning that are one byte and never escaped: the fast path.
std::size_t plain_length(std::string_view text) noexcept {
    const auto* found = std::find_if(text.begin(), text.end(), [](char each) {
        return each < 0x20 || each > 0x7e || each == '"' || each == '\\';
    });
    return static_cast<std::size_t>(found - text.begin());
}

/// `escaped`: printable characters that get a backslash; no others than the quote and itself.
void append_text(fmt::memory_buffer& out, std::string_view text, std::string_view escaped) {
    while (!text.empty()) {
        const std::size_t plain = plain_length(text);
        append(out, text.substr(0, plain));
        text.remove_prefix(plain);
        if (text.empty()) {
            break;
        }
        const std::size_t length = printable_length(text);
        if (length == 0) {
            append_escaped(out, static_cast<unsigned char>(text[0]));
        } else {
            if (escaped.find(text[0]) != std::string_view::npos) {
                out.push_back('\\');
            }
            append(out, text.substr(0, length));
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
}

}  // namespace

void append_escaped(fmt::memory_buffer& out, unsigned char byte) {
    constexpr std::string_view bytes = "\n\t\r";
    constexpr std::string_view names = "ntr";
    if (const std::size_t index = bytes.find(static_cast<char>(byte));
        index != std::string_view::npos) {
        out.push_back('\\');
        out.push_back(names[index]);
    } else {
        append_format(out, "\\x{:02x}", byte);
    }
}

std::size_t printable_length(std::string_view text) noexcept {
    const auto lead = static_cast<unsigned char>(text[0]);
    if (lead < 0x80) {
        return lead >= 0x20 && lead != 0x7f ? 1 : 0;
    }
    const utf8_character next = first_character(text);
    const std::uint32_t code = next.code;
    if (code < 0xa0) {
        return 0;
    }
    // Characters that are invisible or change the direction of text could disguise a line.
    constexpr std::pair<std::uint32_t, std::uint32_t> invisible[] = {
        {0xad, 0xad},     {0x61c, 0x61c},   {0x200b, 0x200f}, {0x2028, 0x202e},
        {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
    const bool hidden = std::any_of(std::begin(invisible), std::end(invisible), [&](auto range) {
        return code >= range.first && code <= range.second;
    });
    return hidden ? 0 : next.length;
}

void append_visible(fmt::memory_buffer& out, std::string_view text) {
    append_text(out, text, "");
}

void append_distinct(fmt::memory_buffer& out, std::string_view text) {
    append_text(out, text, "\\");
}

void append_quoted(fmt::memory_buffer& out, std::string_view text) {
    out.push_back('"');
    append_text(out, text, "\"\\");
    out.push_back('"');
}

}  // namespace elog
