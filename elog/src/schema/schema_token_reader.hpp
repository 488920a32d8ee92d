// SPDX-License-Identifier: MIT
//
// The parser's view of a schema's tokens: the current one, a look-ahead, and what must follow.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "schema/schema_tokens.hpp"

namespace elog {

class schema_token_reader {
  public:
    using name_set = std::set<std::string, std::less<>>;

    /// `file`, for error messages, and `text` must outlive this.
    schema_token_reader(const std::string& file, std::string_view text);

    [[nodiscard]] const token& current() const noexcept { return current_; }
    [[nodiscard]] text_position position() const noexcept { return current_.where; }
    void advance();

    [[nodiscard]] bool is_symbol(char symbol) const;
    [[nodiscard]] bool is_word(std::string_view word) const;
    [[nodiscard]] bool is_before_colon() const;
    /// find(word) of the current token; an empty result if it is no word.
    template <class Find>
    [[nodiscard]] auto look_up(Find&& find) const {
        using result = decltype(find(std::string_view()));
        return current_.kind == token_kind::word ? find(current_.text) : result{};
    }

    /// Advance behind the token if it is the current one.
    [[nodiscard]] bool take_symbol(char symbol);
    [[nodiscard]] bool take_word(std::string_view word);
    /// The text in quotes if the current token is one, else an empty text.
    [[nodiscard]] std::string take_description();

    // Advance behind a token of that kind; throw user_error if the current one is another.
    void expect_symbol(char symbol, std::string_view place);
    [[nodiscard]] std::string expect_name(std::string_view whose);
    /// Adds the name to `taken`; throws if it is there.
    [[nodiscard]] std::string expect_unique_name(std::string_view whose, name_set& taken);
    [[nodiscard]] token expect_number(std::string_view what);
    [[nodiscard]] std::string expect_text(std::string_view what);

    /// Throws user_error with the position, or that of the current token.
    [[noreturn]] void reject(text_position where, std::string_view reason) const {
        tokens_.reject(where, reason);
    }
    [[noreturn]] void reject(std::string_view reason) const { reject(position(), reason); }
    /// The same with the current token behind `reason`.
    [[noreturn]] void reject_current(std::string_view reason) const;

  private:
    schema_tokens tokens_;
    token current_;
    token following_;
};

}  // namespace elog
