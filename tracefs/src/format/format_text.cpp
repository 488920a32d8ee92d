// SPDX-License-Identifier: MIT
#include "format/format_text.hpp"

#include <algorithm>
#include <cstddef>

#include "kernel/kernel_text.hpp"

namespace eventlog::tracefs {
namespace {

constexpr std::size_t digits_max = 9;
constexpr std::size_t declaration_max = 1024;

constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

constexpr bool begins_word(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

constexpr bool is_word(char c) noexcept {
    return is_digit(c) || begins_word(c);
}

/// Between brackets: a number or an expression for it.
constexpr bool is_in_brackets(char c) noexcept {
    constexpr std::string_view others = " +-*/()<>&|";
    return is_word(c) || others.find(c) != std::string_view::npos;
}

bool take(std::string_view& text, std::string_view what) noexcept {
    if (!text.starts_with(what)) {
        return false;
    }
    text.remove_prefix(what.size());
    return true;
}

bool take_number(std::string_view& text) noexcept {
    const auto* const end = std::find_if_not(text.begin(), text.end(), is_digit);
    const auto size = static_cast<std::size_t>(end - text.begin());
    text.remove_prefix(size);
    return size != 0 && size <= digits_max;
}

std::string_view take_word(std::string_view& text) noexcept {
    const auto* const end = std::find_if_not(text.begin(), text.end(), is_word);
    const std::string_view word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    text.remove_prefix(word.size());
    return word;
}

bool take_brackets(std::string_view& text) noexcept {
    const auto* const end = std::find_if_not(text.begin() + 1, text.end(), is_in_brackets);
    if (end == text.end() || *end != ']') {
        return false;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.begin()) + 1);
    return true;
}

/// Accepts "unsigned long args[6]" and "__data_loc char[] name": a type of words and *, a name, and
/// brackets behind either. No word is a number.
bool is_declaration(std::string_view text) noexcept {
    std::size_t words = 0;
    std::size_t brackets = 0;
    while (!text.empty()) {
        const char next = text.front();
        if (next == ' ' || next == '*') {
            text.remove_prefix(1);
        } else if (next == '[') {
            if (words == 0 || ++brackets > 1 || !take_brackets(text)) {
                return false;
            }
        } else if (begins_word(next)) {
            static_cast<void>(take_word(text));
            ++words;
        } else {
            return false;
        }
    }
    return words >= 2;
}

/// Accepts "\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;"
bool is_field(std::string_view line) noexcept {
    if (!take(line, "\tfield:")) {
        return false;
    }
    const std::size_t end = line.find(';');
    if (end > declaration_max || !is_declaration(line.substr(0, end))) {
        return false;
    }
    line.remove_prefix(end + 1);
    for (const std::string_view word : {"\toffset:", "\tsize:"}) {
        const bool has_number = take(line, word) && take_number(line);
        if (!has_number || !take(line, ";")) {
            return false;
        }
    }
    // Kernels before 2.6.32 omit the sign.
    return line.empty() || line == "\tsigned:0;" || line == "\tsigned:1;";
}

}  // namespace

bool is_format_text(std::string_view text) noexcept {
    if (!take(text, "ID: ") || !take_number(text) || !take(text, "\nformat:\n")) {
        return false;
    }
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        if (!line.empty() && !is_field(line)) {
            return false;
        }
    }
    return true;
}

}  // namespace eventlog::tracefs
