// SPDX-License-Identifier: MIT
//
// Splits the text of a schema into tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "schema/schema_text.hpp"

namespace elog {

enum class token_kind { word, number, text, symbol, end };

struct token {
    token_kind kind = token_kind::end;
    text_position where;
    std::string text;             // of a word or symbol: its spelling; of a text: its content
    std::uint64_t magnitude = 0;  // of a number
    bool negative = false;
};

/// The token's name in an error message.
[[nodiscard]] std::string describe(const token& found);

class schema_tokens {
  public:
    /// `file`, for error messages, and `text` must outlive this.
    schema_tokens(const std::string& file, std::string_view text) : file_(file), text_(text) {}

    /// Throws user_error for text that is no token.
    [[nodiscard]] token next();

    /// Throws user_error: FILE:LINE:COLUMN: reason.
    [[noreturn]] void reject(text_position where, std::string_view reason) const;

  private:
    [[nodiscard]] bool at_end() const noexcept { return next_ == text_.size(); }
    [[nodiscard]] char peek() const noexcept { return at_end() ? '\0' : text_[next_]; }
    void step(std::size_t bytes) noexcept;
    void skip_space();
    [[nodiscard]] std::size_t visible_length() const;
    void take_word(token& made);
    void take_number(token& made);
    void take_text(token& made);
    void take_escape(token& made);

    const std::string& file_;
    std::string_view text_;
    std::size_t next_ = 0;
    text_position where_;
};

}  // namespace elog
