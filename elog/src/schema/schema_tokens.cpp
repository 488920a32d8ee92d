// SPDX-License-Identifier: MIT
#include "schema/schema_tokens.hpp"

#include <fmt/format.h>

#include <eventlog/schema_format.hpp>

#include "base/characters.hpp"
#include "base/user_error.hpp"

namespace elog {

std::string describe(const token& found) {
    return describe_token(found.kind, found.text, "the end of the file");
}

void schema_tokens::reject(text_position where, std::string_view reason) const {
    throw user_error("{}:{}:{}: {}", file_, where.line, where.column, reason);
}

void schema_tokens::skip_space() {
    while (!at_end()) {
        const char c = peek();
        if (c == '#') {
            while (!at_end() && peek() != '\n') {
                step(peek() == '\t' || peek() == '\r' ? 1 : visible_length());
            }
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            step();
        } else {
            return;
        }
    }
}

void schema_tokens::take_word(token& made) {
    made.kind = token_kind::word;
    made.text = take_name();
    if (made.text.size() > eventlog::schema_format::name_length_max) {
        reject(made.where, fmt::format("This name has {} characters; up to {} are allowed.",
                                       made.text.size(), eventlog::schema_format::name_length_max));
    }
}

/// Decimal, or hexadecimal with 0x.
void schema_tokens::take_number(token& made) {
    made.kind = token_kind::number;
    made.negative = peek() == '-';
    take(made.negative ? 1 : 0);
    const bool is_hexadecimal = rest().starts_with("0x");
    take(is_hexadecimal ? 2 : 0);
    made.magnitude = take_integer(made.where, is_hexadecimal ? 16 : 10);
    made.text = fmt::format("{}{}", made.negative ? "-" : "", made.magnitude);
}

token schema_tokens::next() {
    skip_space();
    token made;
    made.where = where();
    if (at_end()) {
        return made;
    }
    const char c = peek();
    if (is_letter(c)) {
        take_word(made);
    } else if (is_digit(c) || c == '-') {
        take_number(made);
    } else if (c == '"') {
        made.kind = token_kind::text;
        made.text = take_quoted('"');
    } else if (std::string_view("{}[]=:,?").find(c) != std::string_view::npos) {
        made.kind = token_kind::symbol;
        made.text = take(1);
    } else {
        reject(where(), fmt::format("'{}' means nothing here. There are names, numbers, texts in "
                                    "double quotes, and {{ }} [ ] = : , ? #.",
                                    rest().substr(0, visible_length())));
    }
    return made;
}

}  // namespace elog
