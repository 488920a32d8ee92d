// SPDX-License-Identifier: MIT
#include "script/script_text.hpp"

#include "base/characters.hpp"

namespace elog {

script_piece script_piece::trimmed() const noexcept {
    const std::size_t begin = std::min(text.find_first_not_of(script_blanks), text.size());
    const std::size_t last = text.find_last_not_of(script_blanks);
    return {begin == text.size() ? text.substr(begin) : text.substr(begin, last + 1 - begin),
            at + begin};
}

std::string_view script_piece::word() const noexcept {
    std::size_t size = 0;
    while (size < text.size() && (is_letter(text[size]) || is_digit(text[size]))) {
        ++size;
    }
    return text.substr(0, size);
}

std::size_t end_of_quoted(std::string_view text, std::size_t at) noexcept {
    for (std::size_t next = at + 1; next < text.size(); ++next) {
        if (text[next] == '\\') {
            ++next;
        } else if (text[next] == text[at]) {
            return next;
        }
    }
    return text.size();
}

std::string without_comments(std::string_view text) {
    std::string code(text);
    std::size_t begin = 0;
    while (begin < code.size()) {
        const std::size_t end = std::min(code.find('\n', begin), code.size());
        const std::size_t first = code.find_first_not_of(" \t", begin);
        if (first < end && code[first] == '#') {
            std::fill(code.begin() + static_cast<std::ptrdiff_t>(first),
                      code.begin() + static_cast<std::ptrdiff_t>(end), ' ');
        }
        begin = end + 1;
    }
    return code;
}

std::size_t column_of(std::string_view text, std::size_t at) noexcept {
    const std::string_view before = text.substr(0, at);
    return 1 + static_cast<std::size_t>(std::count_if(before.begin(), before.end(), [](char c) {
               return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
           }));
}

}  // namespace elog
