// SPDX-License-Identifier: MIT
#include "schema/schema_token_reader.hpp"

#include <fmt/format.h>

namespace elog {

schema_token_reader::schema_token_reader(const std::string& file, std::string_view text)
    : tokens_(file, text), current_(tokens_.next()), following_(tokens_.next()) {}

void schema_token_reader::advance() {
    current_ = std::exchange(following_, tokens_.next());
}

bool schema_token_reader::is_symbol(char symbol) const {
    return current_.kind == token_kind::symbol && current_.text[0] == symbol;
}

bool schema_token_reader::is_word(std::string_view word) const {
    return current_.kind == token_kind::word && current_.text == word;
}

bool schema_token_reader::is_before_colon() const {
    return following_.kind == token_kind::symbol && following_.text == ":";
}

bool schema_token_reader::take_symbol(char symbol) {
    const bool found = is_symbol(symbol);
    if (found) {
        advance();
    }
    return found;
}

bool schema_token_reader::take_word(std::string_view word) {
    const bool found = is_word(word);
    if (found) {
        advance();
    }
    return found;
}

std::string schema_token_reader::take_description() {
    return current_.kind == token_kind::text ? expect_text("a description") : std::string();
}

void schema_token_reader::expect_symbol(char symbol, std::string_view place) {
    if (!take_symbol(symbol)) {
        reject_current(fmt::format("There must be a '{}' {}, not", symbol, place));
    }
}

std::string schema_token_reader::expect_name(std::string_view whose) {
    if (current_.kind != token_kind::word) {
        reject_current(fmt::format("There must be the name of {}, not", whose));
    }
    std::string name = current_.text;
    advance();
    return name;
}

std::string schema_token_reader::expect_unique_name(std::string_view whose, name_set& taken) {
    const text_position begin = position();
    std::string name = expect_name(whose);
    if (!taken.insert(name).second) {
        reject(begin, fmt::format("There is {} called {} already.", whose, name));
    }
    return name;
}

token schema_token_reader::expect_number(std::string_view what) {
    if (current_.kind != token_kind::number) {
        reject_current(fmt::format("There must be {}, not", what));
    }
    token number = current_;
    advance();
    return number;
}

std::string schema_token_reader::expect_text(std::string_view what) {
    if (current_.kind != token_kind::text) {
        reject_current(fmt::format("There must be {} in double quotes, not", what));
    }
    if (current_.text.size() > 255) {
        reject(fmt::format("The text has {} bytes; up to 255 are allowed.", current_.text.size()));
    }
    std::string text = current_.text;
    advance();
    return text;
}

void schema_token_reader::reject_current(std::string_view reason) const {
    reject(fmt::format("{} {}.", reason, describe(current_)));
}

}  // namespace elog
