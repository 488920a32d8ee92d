// SPDX-License-Identifier: MIT
#include "text/text_scanner.hpp"

#include <limits>

#include <fmt/format.h>

#include "base/characters.hpp"
#include "text/escaped_text.hpp"

namespace elog {

std::string describe_token(token_kind kind, std::string_view spelling, std::string_view end) {
    switch (kind) {
        case token_kind::number:
            return fmt::format("the number {}", spelling);
        case token_kind::text:
            return "a text in quotes";
        case token_kind::end:
            return std::string(end);
        default:
            return fmt::format("'{}'", spelling);
    }
}

bool text_scanner::is_at_name(std::size_t ahead) const noexcept {
    return is_letter(peek(ahead)) || is_digit(peek(ahead));
}

void text_scanner::step(std::size_t bytes) noexcept {
    if (how_ == layout::lines && peek() == '\n') {
        ++where_.line;
        where_.column = 1;
    } else {
        ++where_.column;
    }
    next_ += bytes;
}

std::string_view text_scanner::take(std::size_t count) noexcept {
    const std::string_view taken = text_.substr(next_, count);
    next_ += count;
    where_.column += count;
    return taken;
}

std::string_view text_scanner::take_name() noexcept {
    std::size_t size = 0;
    while (is_at_name(size)) {
        ++size;
    }
    return take(size);
}

std::uint64_t text_scanner::take_integer(text_position begin, unsigned base) {
    std::uint64_t number = 0;
    const std::size_t first = next_;
    for (; is_at_name(); step()) {
        const int digit = hexadecimal_digit(peek());
        if (digit < 0 || static_cast<unsigned>(digit) >= base) {
            reject(where_, fmt::format("'{}' does not belong into a number.", peek()));
        }
        const auto value = static_cast<std::uint64_t>(digit);
        if (number > (std::numeric_limits<std::uint64_t>::max() - value) / base) {
            reject(begin, "The number does not fit 64 bits.");
        }
        number = number * base + value;
    }
    if (next_ == first) {
        reject(begin, "A number needs digits.");
    }
    return number;
}

std::size_t text_scanner::visible_length() const {
    const std::size_t length = printable_length(rest());
    if (length == 0) {
        reject(where_, fmt::format("Byte 0x{0:02x} is no character that can be seen. Remove it, or "
                                   "write \\x{0:02x} inside of a text.",
                                   static_cast<unsigned char>(peek())));
    }
    return length;
}

char text_scanner::take_escape(std::string_view more) {
    const text_position begin = where_;
    step();  // the backslash
    const char c = peek();
    if (c == 'x') {
        const int high = hexadecimal_digit(peek(1));
        const int low = high < 0 ? -1 : hexadecimal_digit(peek(2));
        if (low < 0) {
            reject(begin, "\\x needs two hexadecimal digits.");
        }
        take(3);
        return static_cast<char>(high * 16 + low);
    }
    constexpr std::string_view names = "\\ntr";
    constexpr std::string_view meanings = "\\\n\t\r";
    const std::size_t index = names.find(c);
    const bool is_itself = c != '\0' && (quotes_.find(c) != std::string_view::npos ||
                                         more.find(c) != std::string_view::npos);
    if (index == std::string_view::npos && !is_itself) {
        std::string allowed;
        for (const std::string_view each : {quotes_, more}) {
            for (const char character : each) {
                allowed += fmt::format("{}, ", character);
            }
        }
        reject(begin, fmt::format("A backslash stands in front of {}\\, n, t, r or xHH.", allowed));
    }
    step();
    return index == std::string_view::npos ? c : meanings[index];
}

std::string text_scanner::take_quoted(char quote, std::string* pattern) {
    constexpr std::string_view wildcards = "*?";
    const text_position begin = where_;
    std::string text;
    for (step(); at_end() || peek() != quote;) {
        if (at_end() || (how_ == layout::lines && peek() == '\n')) {
            reject(begin, fmt::format("The text is not closed{}: a {} is missing.",
                                      how_ == layout::lines ? " in its line" : "", quote));
        }
        if (peek() == '\\') {
            const char taken = take_escape(pattern == nullptr ? std::string_view() : wildcards);
            text += taken;
            if (pattern != nullptr) {
                *pattern += taken == '\\' || wildcards.find(taken) != std::string_view::npos
                                ? std::string("\\") + taken
                                : std::string(1, taken);
            }
        } else {
            const std::size_t length = visible_length();
            text += rest().substr(0, length);
            if (pattern != nullptr) {
                *pattern += rest().substr(0, length);
            }
            step(length);
        }
    }
    step();
    return text;
}

}  // namespace elog
