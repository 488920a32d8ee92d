// SPDX-License-Identifier: MIT
//
// The common part of the parsers of predicates and aggregations: the current token, and errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "predicate/expression_lexer.hpp"
#include "predicate/predicate.hpp"

namespace elog {

/// Errors are thrown as user_error: SOURCE, column N: reason.
class expression_parser {
  protected:
    /// Both texts must outlive the parser.
    expression_parser(std::string_view source, std::string_view text, std::size_t column = 1)
        : tokens_(source, text, column), current_(tokens_.next()) {}

    [[nodiscard]] const expression_token& current() const noexcept { return current_; }
    void advance() { current_ = tokens_.next(); }
    [[nodiscard]] bool is_symbol(std::string_view symbol) const noexcept;
    [[nodiscard]] bool is_word(std::string_view word) const noexcept;
    /// A number without sign, fraction and unit, up to `most`.
    [[nodiscard]] std::optional<std::uint64_t> whole_number(std::uint64_t most) const noexcept;

    /// Advances over a symbol that must be the current token.
    void skip_symbol(std::string_view symbol);
    void require_end(std::string_view advice) const;
    /// A name with an optional index. The current token must be a word.
    [[nodiscard]] field_reference parse_field_reference();

    [[noreturn]] void reject(std::size_t column, std::string_view reason) const {
        tokens_.reject(column, reason);
    }
    [[noreturn]] void reject_missing(std::string_view what) const;

  private:
    expression_lexer tokens_;
    expression_token current_;
};

}  // namespace elog
