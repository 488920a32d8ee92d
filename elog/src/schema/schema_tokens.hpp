// SPDX-License-Identifier: MIT
//
// Splits the text of a schema into tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "text/text_scanner.hpp"

namespace elog {

struct token {
    token_kind kind = token_kind::end;
    text_position where;
    std::string text;             // of a text: its content, of all others: the spelling
    std::uint64_t magnitude = 0;  // of a number
    bool negative = false;
};

/// The token's name in an error message.
[[nodiscard]] std::string describe(const token& found);

class schema_tokens final : public text_scanner {
  public:
    /// `file`, for error messages, and `text` must outlive this.
    schema_tokens(const std::string& file, std::string_view text)
        : text_scanner(text, "\"", layout::lines, {}), file_(file) {}

    /// Throws user_error for text that is no token.
    [[nodiscard]] token next();

    /// Throws user_error: FILE:LINE:COLUMN: reason.
    [[noreturn]] void reject(text_position where, std::string_view reason) const override;

  private:
    void skip_space();
    void take_word(token& made);
    void take_number(token& made);

    const std::string& file_;
};

}  // namespace elog
