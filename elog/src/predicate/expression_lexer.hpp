// SPDX-License-Identifier: MIT
//
// Splits predicates and aggregations into tokens; elog-predicate(7) specifies them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/user_error.hpp"
#include "text/text_scanner.hpp"

namespace elog {

// Enough for expressions that users type and that programs generate for them.
inline constexpr std::size_t expression_size_max = 4096;

/// What a unit measures.
enum class dimension { none, time, size };

struct number_unit {
    std::string_view name{};
    dimension measures = dimension::none;
    std::uint64_t factor = 1;  // of time in nanoseconds, of size in bytes
};

/// The number is mantissa / 10^decimals * unit.factor, negated if `negative`.
struct number_literal {
    bool negative = false;
    bool exact = true;  // false: written with an exponent, and comparable with floats only
    unsigned decimals = 0;
    std::uint64_t mantissa = 0;
    double floating = 0;  // the number, without its sign
    number_unit unit{};
};

struct address_literal {
    std::size_t size = 0;  // 4, 6 or 16 bytes
    std::size_t bits = 0;  // length of the network's prefix; without a / all bits
    bool is_network = false;
    std::array<std::uint8_t, 16> bytes{};
};

using expression_token_kind = token_kind;

struct expression_token {
    expression_token_kind kind = expression_token_kind::end;
    std::size_t column = 1;
    std::string text{};     // of a text and a character: the content, of all others: the spelling
    std::string pattern{};  // of a text: the content as the right side of ~
    number_literal number{};
    address_literal address{};
};

/// The token's name in an error message.
[[nodiscard]] std::string describe(const expression_token& found);

/// The unit of that name; nullptr if there is none.
[[nodiscard]] const number_unit* find_unit(std::string_view name) noexcept;

/// "10.0.0.1", "fe80::1", "10.0.0.0/8", "00:16:3e:aa:bb:cc". Returns false for anything else.
[[nodiscard]] bool parse_address(std::string_view text, address_literal& address) noexcept;

class expression_lexer final : public text_scanner {
  public:
    /// `source` is the expression's name in error messages, for example --where, and `column` the
    /// position at which it begins there. Both texts must outlive this. Throws user_error if the
    /// text is too long.
    expression_lexer(std::string_view source, std::string_view text, std::size_t column = 1);

    /// Throws user_error for text that is no token.
    [[nodiscard]] expression_token next();

    /// Throws user_error: SOURCE, column N: reason.
    [[noreturn]] void reject(std::size_t column, std::string_view reason) const;
    [[noreturn]] void reject(text_position where, std::string_view reason) const override {
        reject(where.column, reason);
    }

    [[nodiscard]] std::string_view source() const noexcept { return source_; }

  private:
    bool take_address(expression_token& made);
    void take_word(expression_token& made);
    void take_number(expression_token& made);
    void take_decimal(expression_token& made);
    void take_unit(expression_token& made);
    void take_character(expression_token& made);
    void take_symbol(expression_token& made);

    std::string_view source_;
};

/// SOURCE, column N: reason.
[[nodiscard]] std::string expression_message(std::string_view source, std::size_t column,
                                             std::string_view reason);

/// Throws user_error with that message.
[[noreturn]] void reject_expression(std::string_view source, std::size_t column,
                                    std::string_view reason);

}  // namespace elog
