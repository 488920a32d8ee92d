// SPDX-License-Identifier: MIT
#include "schema/schema_tokens.hpp"

#include <limits>

#include "base/characters.hpp"
#include "text/escaped_text.hpp"

namespace elog {
namespace {}  // namespace

std::string describe(const token& found) {
    switch (found.kind) {
        case token_kind::number:
            return fmt::format("the number {}{}", found.negative ? "-" : "", found.magnitude);
        case token_kind::text:
            return "a text in quotes";
        case token_kind::end:
            return "the end of the file";
        default:
            return fmt::format("'{}'", found.text);
    }
}

void schema_tokens::reject(text_position where, std::string_view reason) const {
    throw user_error("{}:{}:{}: {}", file_, where.line, where.column, reason);
}

/// Advances by one character of `bytes` bytes.
void schema_tokens::step(std::size_t bytes) noexcept {
    if (text_[next_] == '\n') {
        ++where_.line;
        where_.column = 1;
    } else {
        ++where_.column;
    }
    next_ += bytes;
}

/// Rejects invisible characters and bytes that are no characters: they would disguise the text.
std::size_t schema_tokens::visible_length() const {
    const std::size_t length = printable_length(text_.substr(next_));
    if (length == 0) {
        reject(where_,
               fmt::format("Byte 0x{:02x} is no character that can be seen. Remove it, or "
                           "write \\x{:02x} inside of a text.",
                           static_cast<unsigned char>(peek()), static_cast<unsigned char>(peek())));
    }
    return length;
}

void schema_tokens::skip_space() {
    while (!at_end()) {
        const char c = peek();
        if (c == '#') {
            while (!at_end() && peek() != '\n') {
                step(peek() == '\t' || peek() == '\r' ? 1 : visible_length());
            }
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            step(1);
        } else {
            return;
        }
    }
}

void schema_tokens::take_word(token& made) {
    made.kind = token_kind::word;
    while (is_letter(peek()) || is_digit(peek())) {
        made.text.push_back(peek());
        step(1);
    }
    if (made.text.size() > eventlog::name_length_max) {
        reject(made.where, fmt::format("This name has {} characters; up to {} are allowed.",
                                       made.text.size(), eventlog::name_length_max));
    }
}

/// Decimal, or hexadecimal with 0x.
void schema_tokens::take_number(token& made) {
    made.kind = token_kind::number;
    if (peek() == '-') {
        made.negative = true;
        step(1);
    }
    std::uint64_t base = 10;
    if (peek() == '0' && text_.substr(next_, 2) == "0x") {
        base = 16;
        step(1);
        step(1);
    }
    bool any = false;
    for (; is_letter(peek()) || is_digit(peek()); step(1)) {
        const int digit = hexadecimal_digit(peek());
        if (digit < 0 || static_cast<std::uint64_t>(digit) >= base) {
            reject(where_, fmt::format("'{}' does not belong into a number.", peek()));
        }
        const auto value = static_cast<std::uint64_t>(digit);
        if (made.magnitude > (std::numeric_limits<std::uint64_t>::max() - value) / base) {
            reject(made.where, "The number does not fit 64 bits.");
        }
        made.magnitude = made.magnitude * base + value;
        any = true;
    }
    if (!any) {
        reject(made.where, "A number needs digits.");
    }
}

void schema_tokens::take_escape(token& made) {
    const text_position where = where_;
    step(1);  // the backslash
    const char c = peek();
    switch (c) {
        case '"':
        case '\\':
            made.text.push_back(c);
            break;
        case 'n':
            made.text.push_back('\n');
            break;
        case 't':
            made.text.push_back('\t');
            break;
        case 'r':
            made.text.push_back('\r');
            break;
        case 'x': {
            const std::string_view digits = text_.substr(next_ + 1, 2);
            const int high = digits.size() == 2 ? hexadecimal_digit(digits[0]) : -1;
            const int low = digits.size() == 2 ? hexadecimal_digit(digits[1]) : -1;
            if (high < 0 || low < 0) {
                reject(where, "\\x needs two hexadecimal digits.");
            }
            made.text.push_back(static_cast<char>(high * 16 + low));
            step(1);
            step(1);
            break;
        }
        default:
            reject(where, "A backslash stands in front of \", \\, n, t, r or xHH.");
    }
    step(1);
}

void schema_tokens::take_text(token& made) {
    made.kind = token_kind::text;
    step(1);
    while (peek() != '"') {
        if (at_end() || peek() == '\n') {
            reject(made.where, "The text is not closed in its line: a \" is missing.");
        }
        if (peek() == '\\') {
            take_escape(made);
        } else {
            const std::size_t length = visible_length();
            made.text += text_.substr(next_, length);
            step(length);
        }
    }
    step(1);
}

token schema_tokens::next() {
    skip_space();
    token made;
    made.where = where_;
    if (at_end()) {
        return made;
    }
    const char c = peek();
    if (is_letter(c)) {
        take_word(made);
    } else if (is_digit(c) || c == '-') {
        take_number(made);
    } else if (c == '"') {
        take_text(made);
    } else if (std::string_view("{}[]=:,?").find(c) != std::string_view::npos) {
        made.kind = token_kind::symbol;
        made.text = c;
        step(1);
    } else {
        static_cast<void>(visible_length());
        reject(where_, fmt::format("'{}' means nothing here. There are names, numbers, texts in "
                                   "double quotes, and {{ }} [ ] = : , ? #.",
                                   text_.substr(next_, visible_length())));
    }
    return made;
}

}  // namespace elog
