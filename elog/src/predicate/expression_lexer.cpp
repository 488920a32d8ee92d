// SPDX-License-Identifier: MIT
#include "predicate/expression_lexer.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/characters.hpp"

namespace elog {
namespace {

constexpr std::uint64_t kibi = 1024;
constexpr std::array<number_unit, 17> number_units{{
    {"ns", dimension::time, 1},
    {"us", dimension::time, 1000},
    {"ms", dimension::time, 1'000'000},
    {"s", dimension::time, 1'000'000'000},
    {"min", dimension::time, 60'000'000'000},
    {"h", dimension::time, 3'600'000'000'000},
    {"B", dimension::size, 1},
    {"kB", dimension::size, 1000},
    {"MB", dimension::size, 1'000'000},
    {"GB", dimension::size, 1'000'000'000},
    {"KiB", dimension::size, kibi},
    {"MiB", dimension::size, kibi* kibi},
    {"GiB", dimension::size, kibi* kibi* kibi},
    {"TiB", dimension::size, kibi* kibi* kibi* kibi},
    {"k", dimension::none, 1000},
    {"M", dimension::none, 1'000'000},
    {"G", dimension::none, 1'000'000'000},
}};

bool parse_mac(std::string_view text, address_literal& address) noexcept {
    if (text.size() != 17) {
        return false;
    }
    for (std::size_t i = 0; i < 6; ++i) {
        const int high = hexadecimal_digit(text[3 * i]);
        const int low = hexadecimal_digit(text[3 * i + 1]);
        if (high < 0 || low < 0 || (i < 5 && text[3 * i + 2] != ':')) {
            return false;
        }
        address.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
    }
    address.size = 6;
    address.bits = 48;
    return true;
}

bool parse_prefix(std::string_view digits, address_literal& address) noexcept {
    std::size_t bits = 0;
    const char* end = digits.data() + digits.size();
    const auto [after, error] = std::from_chars(digits.data(), end, bits);
    if (error != std::errc{} || after != end || bits > address.size * 8 || address.size == 6) {
        return false;
    }
    address.bits = bits;
    address.is_network = true;
    return true;
}

}  // namespace

const number_unit* find_unit(std::string_view name) noexcept {
    const auto* found = std::find_if(number_units.begin(), number_units.end(),
                                     [&](const number_unit& unit) { return unit.name == name; });
    return found == number_units.end() ? nullptr : found;
}

bool parse_address(std::string_view text, address_literal& address) noexcept {
    const std::size_t slash = std::min(text.find('/'), text.size());
    std::array<char, INET6_ADDRSTRLEN> plain{};
    if (slash >= plain.size()) {
        return false;
    }
    address = {};
    std::copy_n(text.data(), slash, plain.data());
    if (::inet_pton(AF_INET, plain.data(), address.bytes.data()) == 1) {
        address.size = 4;
    } else if (::inet_pton(AF_INET6, plain.data(), address.bytes.data()) == 1) {
        address.size = 16;
    } else {
        return parse_mac(text, address);
    }
    address.bits = address.size * 8;
    return slash == text.size() || parse_prefix(text.substr(slash + 1), address);
}

std::string describe(const expression_token& found) {
    return describe_token(found.kind, found.text, "the end");
}

std::string expression_message(std::string_view source, std::size_t column,
                               std::string_view reason) {
    return fmt::format("{}, column {}: {}", source, column, reason);
}

void reject_expression(std::string_view source, std::size_t column, std::string_view reason) {
    throw user_error("{}", expression_message(source, column, reason));
}

expression_lexer::expression_lexer(std::string_view source, std::string_view text,
                                   std::size_t column)
    : text_scanner(text, "\"'", layout::single_line, {1, column}), source_(source) {
    if (text.size() > expression_size_max) {
        reject(column, fmt::format("This has {} bytes; up to {} are allowed.", text.size(),
                                   expression_size_max));
    }
}

void expression_lexer::reject(std::size_t column, std::string_view reason) const {
    reject_expression(source_, column, reason);
}

/// Digits with three points or two colons: only addresses have those.
bool expression_lexer::take_address(expression_token& made) {
    std::size_t size = 0;
    std::size_t colons = 0;
    std::size_t points = 0;
    for (;; ++size) {
        const char c = peek(size);
        if (hexadecimal_digit(c) < 0 && c != ':' && c != '.') {
            break;
        }
        colons += c == ':' ? 1U : 0U;
        points += c == '.' ? 1U : 0U;
    }
    if (colons < 2 && (points < 2 || !is_digit(peek()))) {
        return false;
    }
    if (peek(size) == '/') {
        ++size;
        while (is_digit(peek(size))) {
            ++size;
        }
    }
    // Letters that follow belong to it, as a mistake.
    while (is_at_name(size)) {
        ++size;
    }
    made.kind = expression_token_kind::address;
    made.text = rest().substr(0, size);
    if (!parse_address(made.text, made.address)) {
        reject(made.column, fmt::format("'{}' is no address: write 10.0.0.1, fe80::1, 10.0.0.0/8 "
                                        "or 00:16:3e:aa:bb:cc.",
                                        made.text));
    }
    take(size);
    return true;
}

/// Parts of a name may have points between them, and one in front of it.
void expression_lexer::take_word(expression_token& made) {
    made.kind = expression_token_kind::word;
    do {
        made.text += take(peek() == '.' ? 1 : 0);
        made.text += take_name();
    } while (peek() == '.' && is_letter(peek(1)));
}

void expression_lexer::take_unit(expression_token& made) {
    const text_position begin = where();
    const std::string_view name = take_name();
    if (name.empty()) {
        return;
    }
    const number_unit* unit = find_unit(name);
    if (unit == nullptr) {
        reject(begin,
               fmt::format("'{}' is no unit: there are ns, us, ms, s, min, h; B, kB, MB, GB, KiB, "
                           "MiB, GiB, TiB; k (1000), M and G.",
                           name));
    }
    made.number.unit = *unit;
    made.number.floating *= static_cast<double>(unit->factor);
}

/// Decimal, with a point and an exponent if need be, and then a unit; or hexadecimal behind 0x.
void expression_lexer::take_number(expression_token& made) {
    made.kind = expression_token_kind::number;
    const std::string_view begin = rest();
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
        take(2);
        made.number.mantissa = take_integer({1, made.column}, 16);
        made.number.floating = static_cast<double>(made.number.mantissa);
    } else {
        take_decimal(made);
        take_unit(made);
    }
    made.text = since(begin);
}

void expression_lexer::take_decimal(expression_token& made) {
    const std::string_view begin = rest();
    number_literal& number = made.number;
    bool point = false;
    for (; is_digit(peek()) || (!point && peek() == '.' && is_digit(peek(1))); step()) {
        if (peek() == '.') {
            point = true;
            continue;
        }
        const auto digit = static_cast<std::uint64_t>(peek() - '0');
        if (number.mantissa > (std::numeric_limits<std::uint64_t>::max() - digit) / 10 ||
            number.decimals == 18) {
            reject(made.column, "The number has too many digits: it does not fit 64 bits.");
        }
        number.mantissa = number.mantissa * 10 + digit;
        number.decimals += point ? 1U : 0U;
    }
    const std::size_t sign = peek(1) == '-' || peek(1) == '+' ? 1 : 0;
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
        number.exact = false;
        take(1 + sign);
        while (is_digit(peek())) {
            step();
        }
    }
    const std::string_view digits = since(begin);
    const char* end = digits.data() + digits.size();
    const auto [after, error] = std::from_chars(digits.data(), end, number.floating);
    if (error != std::errc{} || after != end) {
        reject(made.column, "The number is beyond what 64 bits can hold.");
    }
}

void expression_lexer::take_character(expression_token& made) {
    made.kind = expression_token_kind::character;
    made.text = take_quoted('\'');
    if (made.text.size() != 1) {
        reject(made.column, "One char stands in single quotes; a text stands in double quotes.");
    }
}

void expression_lexer::take_symbol(expression_token& made) {
    made.kind = expression_token_kind::symbol;
    constexpr std::array<std::string_view, 19> symbols{"&&", "||", "==", "!=", "<=", ">=", "!~",
                                                       "<",  ">",  "~",  "!",  "&",  "|",  "(",
                                                       ")",  "[",  "]",  ",",  "-"};
    for (const std::string_view symbol : symbols) {
        if (rest().starts_with(symbol)) {
            made.text = take(symbol.size());
            return;
        }
    }
    if (peek() == '=') {
        reject(where(), "'=' alone means nothing here: write == to compare.");
    }
    reject(where(), fmt::format("'{}' means nothing here.", rest().substr(0, visible_length())));
}

expression_token expression_lexer::next() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') {
        step();
    }
    expression_token made;
    made.column = where().column;
    if (at_end() || take_address(made)) {
        return made;
    }
    const char c = peek();
    if (is_letter(c) || (c == '.' && is_letter(peek(1)))) {
        take_word(made);
    } else if (is_digit(c)) {
        take_number(made);
    } else if (c == '"') {
        made.kind = expression_token_kind::text;
        made.text = take_quoted(c, &made.pattern);
    } else if (c == '\'') {
        take_character(made);
    } else {
        take_symbol(made);
    }
    return made;
}

}  // namespace elog
