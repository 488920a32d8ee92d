// SPDX-License-Identifier: MIT
#include "script/script_mistake.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

#include <fmt/format.h>

#include "script/script.hpp"
#include "text/escaped_text.hpp"

namespace elog {
namespace {

// Longer lines are cut around the mistake.
constexpr std::size_t shown_max = 72;

bool begins_character(char c) noexcept {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
}

/// The byte at which the character with that number, from 0, begins.
std::size_t byte_of(std::string_view text, std::size_t character) noexcept {
    std::size_t at = 0;
    for (std::size_t seen = 0; at < text.size(); ++at) {
        if (begins_character(text[at]) && seen++ == character) {
            break;
        }
    }
    return at;
}

/// Printable, one column for each ASCII character.
std::string shown_part(std::string_view line) {
    std::string part(line);
    std::replace_if(
        part.begin(), part.end(),
        [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
    return part;
}

std::string excerpt_of(std::string_view line, std::size_t column) {
    const std::size_t before = column - 1;
    const std::size_t cut = before < shown_max * 3 / 4 ? 0 : before - shown_max * 3 / 4;
    const std::size_t begin = byte_of(line, cut);
    const std::string_view part = line.substr(begin, byte_of(line.substr(begin), shown_max));
    return fmt::format("  {}\n  {}^\n", shown_part(part), std::string(before - cut, ' '));
}

}  // namespace

script_mistake locate_mistake(std::string_view message, std::string_view text,
                              std::string_view file, std::string_view option) {
    const std::string before = fmt::format("{}, column ", script_source);
    std::size_t number = 0;
    if (!message.starts_with(before)) {
        return {std::string(message), {}};
    }
    const char* const end = message.data() + message.size();
    const auto [rest, error] = std::from_chars(message.data() + before.size(), end, number);
    if (error != std::errc{} || number == 0) {
        return {std::string(message), {}};
    }
    const std::string_view reason(rest, static_cast<std::size_t>(end - rest));
    const std::size_t at = byte_of(text, number - 1);
    const std::string_view preceding = text.substr(0, at);
    const std::size_t newline = preceding.rfind('\n');
    const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    const auto line = 1 + std::count(preceding.begin(), preceding.end(), '\n');
    const std::size_t column = 1 + static_cast<std::size_t>(std::count_if(
                                       preceding.begin() + static_cast<std::ptrdiff_t>(begin),
                                       preceding.end(), begins_character));
    const std::string_view whole = text.substr(begin, text.find('\n', begin) - begin);
    script_mistake made;
    if (!file.empty()) {
        made.message = fmt::format("{}:{}:{}{}", file, line, column, reason);
    } else if (text.find('\n') == std::string_view::npos) {
        made.message = fmt::format("{}, column {}{}", option, column, reason);
    } else {
        made.message = fmt::format("{}, line {}, column {}{}", option, line, column, reason);
    }
    made.excerpt = excerpt_of(whole, column);
    return made;
}

}  // namespace elog
