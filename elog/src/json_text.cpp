// SPDX-License-Identifier: MIT
#include "json_text.hpp"

#include <cmath>
#include <cstdint>
#include <iterator>

#include "value_text.hpp"

namespace elog {
namespace {

void append(fmt::memory_buffer& out, std::string_view text) {
    out.append(text.data(), text.data() + text.size());
}

/// The character at the beginning, and its length; 0 if the bytes are none.
std::size_t take_character(std::string_view text, std::uint32_t& code) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    code = lead;
    if (lead < 0x80) {
        return 1;
    }
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < length) {
        return 0;
    }
    code = lead & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0U) != 0x80U) {
            return 0;
        }
        code = code << 6U | (byte(i) & 0x3fU);
    }
    const bool sound = (length == 2 || code >= 0x800) && (length < 4 || code >= 0x10000) &&
                       code <= 0x10ffff && (code < 0xd800 || code >= 0xe000);
    return sound ? length : 0;
}

void append_escaped(fmt::memory_buffer& out, std::uint32_t code) {
    if (code >= 0x10000) {
        const std::uint32_t rest = code - 0x10000;
        fmt::format_to(std::back_inserter(out), FMT_STRING("\\u{:04x}\\u{:04x}"),
                       0xd800 + (rest >> 10U), 0xdc00 + (rest & 0x3ffU));
    } else {
        fmt::format_to(std::back_inserter(out), FMT_STRING("\\u{:04x}"), code);
    }
}

}  // namespace

void append_json_text(fmt::memory_buffer& out, std::string_view text) {
    out.push_back('"');
    while (!text.empty()) {
        std::uint32_t code = 0;
        const std::size_t length = take_character(text, code);
        if (length == 0) {
            append(out, "\\ufffd");
        } else if (code == '"' || code == '\\') {
            out.push_back('\\');
            out.push_back(text[0]);
        } else if (printable_length(text) == length) {
            append(out, text.substr(0, length));
        } else {
            append_escaped(out, code);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    out.push_back('"');
}

void append_json_number(fmt::memory_buffer& out, double number) {
    if (std::isfinite(number)) {
        fmt::format_to(std::back_inserter(out), FMT_STRING("{}"), number);
    } else {
        append(out, "null");
    }
}

}  // namespace elog
