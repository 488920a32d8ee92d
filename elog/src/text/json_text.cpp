// SPDX-License-Identifier: MIT
#include "text/json_text.hpp"

#include <cmath>
#include <cstdint>

#include "text/append_format.hpp"
#include "text/escaped_text.hpp"
#include "text/utf8.hpp"

namespace elog {
namespace {

void append_escaped_code(fmt::memory_buffer& out, std::uint32_t code) {
    if (code >= 0x10000) {
        const std::uint32_t rest = code - 0x10000;
        append_format(out, "\\u{:04x}\\u{:04x}", 0xd800 + (rest >> 10U), 0xdc00 + (rest & 0x3ffU));
    } else {
        append_format(out, "\\u{:04x}", code);
    }
}

}  // namespace

void append_json_text(fmt::memory_buffer& out, std::string_view text) {
    out.push_back('"');
    while (!text.empty()) {
        const auto [code, length] = first_character(text);
        if (length == 0) {
            append(out, "\\ufffd");
        } else if (code == '"' || code == '\\') {
            out.push_back('\\');
            out.push_back(text[0]);
        } else if (printable_length(text) == length) {
            append(out, text.substr(0, length));
        } else {
            append_escaped_code(out, code);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    out.push_back('"');
}

void append_visible_json(fmt::memory_buffer& out, std::string_view json) {
    while (!json.empty()) {
        const auto [code, length] = first_character(json);
        if (length == 0) {
            append(out, "\\ufffd");
        } else if (code < 0x20 || printable_length(json) == length) {
            append(out, json.substr(0, length));
        } else {
            append_escaped_code(out, code);
        }
        json.remove_prefix(length == 0 ? 1 : length);
    }
}

void append_json_member(fmt::memory_buffer& out, const char* name, std::string_view value) {
    append_format(out, "\"{}\": ", name);
    append_json_text(out, value);
}

void append_json_number(fmt::memory_buffer& out, double number) {
    if (std::isfinite(number)) {
        append_format(out, "{}", number);
    } else {
        append(out, "null");
    }
}

std::string_view name_of_infinite(double number) noexcept {
    return std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
}

}  // namespace elog
