// SPDX-License-Identifier: MIT
//
// The words of predicates and aggregations, which elog-predicate(7) specifies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/user_error.hpp"

namespace elog {

// What people type, and what a program may paste together for them.
inline constexpr std::size_t expression_size_max = 4096;

/// What a unit measures.
enum class dimension { none, time, size };

struct number_unit {
    std::string_view name{};
    dimension measures = dimension::none;
    std::uint64_t factor = 1;  // of time in nanoseconds, of size in bytes
};

/// (-1 if negative) * mantissa / 10^decimals * unit.factor.
struct number_literal {
    bool negative = false;
    bool exact = true;  // false: written with an exponent, which only floats can be compared with
    unsigned decimals = 0;
    std::uint64_t mantissa = 0;
    double floating = 0;  // all of it
    number_unit unit{};
};

struct address_literal {
    std::size_t size = 0;  // 4, 6 or 16 bytes
    std::size_t bits = 0;  // of the network behind a /; else all
    bool is_network = false;
    std::array<std::uint8_t, 16> bytes{};
};

enum class expression_token_kind { word, number, text, character, address, symbol, end };

struct expression_token {
    expression_token_kind kind = expression_token_kind::end;
    std::size_t column = 1;
    std::string text{};  // of a text what it means, of all others how it stands there
    number_literal number{};
    address_literal address{};
};

/// How a token is called in a complaint.
[[nodiscard]] std::string describe(const expression_token& found);

/// The unit of that name; nullptr if there is none.
[[nodiscard]] const number_unit* find_unit(std::string_view name) noexcept;

/// "10.0.0.1", "fe80::1", "10.0.0.0/8", "00:16:3e:aa:bb:cc". Returns false for anything else.
[[nodiscard]] bool parse_address(std::string_view text, address_literal& address) noexcept;

class expression_lexer {
  public:
    /// `source` is how complaints call the expression, for example --where, and `column` where in
    /// that it begins. Both texts must outlive it. Throws failure if it is too long.
    expression_lexer(std::string_view source, std::string_view text, std::size_t column = 1);

    /// Throws failure for what is no token.
    [[nodiscard]] expression_token next();

    /// Throws failure: SOURCE, column N: reason.
    [[noreturn]] void reject(std::size_t column, std::string_view reason) const;

    [[nodiscard]] std::string_view source() const noexcept { return source_; }

  private:
    [[nodiscard]] char peek(std::size_t ahead = 0) const noexcept {
        return text_.size() - next_ > ahead ? text_[next_ + ahead] : '\0';
    }
    [[nodiscard]] bool at_end() const noexcept { return next_ == text_.size(); }
    [[nodiscard]] std::size_t visible_length() const;
    void step(std::size_t bytes) noexcept;
    bool take_address(expression_token& made);
    void take_word(expression_token& made);
    void take_number(expression_token& made);
    void take_hexadecimal(expression_token& made);
    void take_unit(expression_token& made);
    void take_quoted(expression_token& made, char quote);
    void take_escape(expression_token& made);
    void take_symbol(expression_token& made);

    std::string_view source_;
    std::string_view text_;
    std::size_t next_ = 0;
    std::size_t column_;
};

/// Throws failure: SOURCE, column N: reason.
[[noreturn]] void reject_expression(std::string_view source, std::size_t column,
                                    std::string_view reason);

}  // namespace elog
