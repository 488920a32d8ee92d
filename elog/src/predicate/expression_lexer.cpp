// SPDX-License-Identifier: MIT
#include "predicate/expression_lexer.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "base/characters.hpp"
#include "text/escaped_text.hpp"

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
    switch (found.kind) {
        case expression_token_kind::number:
            return fmt::format("the number {}", found.text);
        case expression_token_kind::text:
            return "a text in quotes";
        case expression_token_kind::end:
            return "the end";
        default:
            return fmt::format("'{}'", found.text);
    }
}

void reject_expression(std::string_view source, std::size_t column, std::string_view reason) {
    throw user_error("{}, column {}: {}", source, column, reason);
}

expression_lexer::expression_lexer(std::string_view source, std::string_view text,
                                   std::size_t column)
    : source_(source), text_(text), column_(column) {
    if (text_.size() > expression_size_max) {
        reject(column_, fmt::format("This has {} bytes; up to {} are allowed.", text_.size(),
                                    expression_size_max));
    }
}

void expression_lexer::reject(std::size_t column, std::string_view reason) const {
    reject_expression(source_, column, reason);
}

/// Over that many bytes of one character.
void expression_lexer::step(std::size_t bytes) noexcept {
    next_ += bytes;
    ++column_;
}

/// Characters that do not show, and bytes that are no characters, hide what an expression says.
std::size_t expression_lexer::visible_length() const {
    const std::size_t length = printable_length(text_.substr(next_));
    if (length == 0) {
        reject(column_,
               fmt::format("Byte 0x{:02x} is no character that can be seen. Remove it, or "
                           "write \\x{:02x} inside of a text.",
                           static_cast<unsigned char>(peek()), static_cast<unsigned char>(peek())));
    }
    return length;
}

/// What looks like an address: digits with three points or two colons. Nothing else has those.
bool expression_lexer::take_address(expression_token& made) {
    std::size_t size = 0;
    std::size_t colons = 0;
    std::size_t points = 0;
    for (;; ++size) {
        const char c = peek(size);
        if (c == '\0' || (hexadecimal_digit(c) < 0 && c != ':' && c != '.')) {
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
    while (is_letter(peek(size)) || is_digit(peek(size))) {
        ++size;
    }
    made.kind = expression_token_kind::address;
    made.text = text_.substr(next_, size);
    if (!parse_address(made.text, made.address)) {
        reject(made.column, fmt::format("'{}' is no address: write 10.0.0.1, fe80::1, 10.0.0.0/8 "
                                        "or 00:16:3e:aa:bb:cc.",
                                        made.text));
    }
    next_ += size;
    column_ += size;
    return true;
}

/// Parts of a name may have points between them, and one in front of it.
void expression_lexer::take_word(expression_token& made) {
    made.kind = expression_token_kind::word;
    while (is_letter(peek()) || is_digit(peek()) || (peek() == '.' && is_letter(peek(1)))) {
        made.text.push_back(peek());
        step(1);
    }
}

void expression_lexer::take_hexadecimal(expression_token& made) {
    step(1);
    step(1);
    const std::size_t begin = next_;
    for (; is_letter(peek()) || is_digit(peek()); step(1)) {
        const int digit = hexadecimal_digit(peek());
        if (digit < 0) {
            reject(column_, fmt::format("'{}' does not belong into a hexadecimal number.", peek()));
        }
        if (made.number.mantissa >> 60U != 0) {
            reject(made.column, "The number does not fit 64 bits.");
        }
        made.number.mantissa = made.number.mantissa * 16 + static_cast<std::uint64_t>(digit);
    }
    if (next_ == begin) {
        reject(made.column, "A hexadecimal number needs digits behind 0x.");
    }
    made.number.floating = static_cast<double>(made.number.mantissa);
}

void expression_lexer::take_unit(expression_token& made) {
    const std::size_t column = column_;
    std::string name;
    for (; is_letter(peek()) || is_digit(peek()); step(1)) {
        name.push_back(peek());
    }
    if (name.empty()) {
        return;
    }
    const number_unit* unit = find_unit(name);
    if (unit == nullptr) {
        reject(column,
               fmt::format("'{}' is no unit: there are ns, us, ms, s, min, h; B, kB, MB, GB, KiB, "
                           "MiB, GiB, TiB; k (1000), M and G.",
                           name));
    }
    made.number.unit = *unit;
    made.number.floating *= static_cast<double>(unit->factor);
}

/// Decimal, with a point and an exponent if need be, or hexadecimal behind 0x; then a unit.
void expression_lexer::take_number(expression_token& made) {
    made.kind = expression_token_kind::number;
    const std::size_t begin = next_;
    number_literal& number = made.number;
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
        take_hexadecimal(made);
        made.text = text_.substr(begin, next_ - begin);
        return;
    }
    bool point = false;
    for (; is_digit(peek()) || (!point && peek() == '.' && is_digit(peek(1))); step(1)) {
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
    const bool is_signed = peek(1) == '-' || peek(1) == '+';
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(is_signed ? 2 : 1))) {
        number.exact = false;
        for (step(1); is_digit(peek()) || peek() == '-' || peek() == '+'; step(1)) {
            if (!is_digit(peek()) && text_[next_ - 1] != 'e' && text_[next_ - 1] != 'E') {
                break;
            }
        }
    }
    const char* end = text_.data() + next_;
    const auto [after, error] = std::from_chars(text_.data() + begin, end, number.floating);
    if (error != std::errc{} || after != end) {
        reject(made.column, "The number is beyond what 64 bits can hold.");
    }
    take_unit(made);
    made.text = text_.substr(begin, next_ - begin);
}

void expression_lexer::take_escape(expression_token& made) {
    const std::size_t column = column_;
    step(1);  // the backslash
    const char c = peek();
    switch (c) {
        case '"':
        case '\'':
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
            const int high = hexadecimal_digit(peek(1));
            const int low = high < 0 ? -1 : hexadecimal_digit(peek(2));
            if (low < 0) {
                reject(column, "\\x needs two hexadecimal digits.");
            }
            made.text.push_back(static_cast<char>(high * 16 + low));
            step(1);
            step(1);
            break;
        }
        default:
            reject(column, "A backslash stands in front of \", ', \\, n, t, r or xHH.");
    }
    step(1);
}

void expression_lexer::take_quoted(expression_token& made, char quote) {
    made.kind = quote == '"' ? expression_token_kind::text : expression_token_kind::character;
    step(1);
    while (at_end() || peek() != quote) {
        if (at_end()) {
            reject(made.column, fmt::format("The text is not closed: a {} is missing.", quote));
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
    if (quote == '\'' && made.text.size() != 1) {
        reject(made.column, "One char stands in single quotes; a text stands in double quotes.");
    }
}

void expression_lexer::take_symbol(expression_token& made) {
    made.kind = expression_token_kind::symbol;
    constexpr std::array<std::string_view, 19> symbols{"&&", "||", "==", "!=", "<=", ">=", "!~",
                                                       "<",  ">",  "~",  "!",  "&",  "|",  "(",
                                                       ")",  "[",  "]",  ",",  "-"};
    for (const std::string_view symbol : symbols) {
        if (text_.substr(next_, symbol.size()) == symbol) {
            made.text = symbol;
            next_ += symbol.size();
            column_ += symbol.size();
            return;
        }
    }
    if (peek() == '=') {
        reject(column_, "'=' alone means nothing here: write == to compare.");
    }
    reject(column_, fmt::format("'{}' means nothing here.", text_.substr(next_, visible_length())));
}

expression_token expression_lexer::next() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') {
        step(1);
    }
    expression_token made;
    made.column = column_;
    if (at_end()) {
        return made;
    }
    if (take_address(made)) {
        return made;
    }
    const char c = peek();
    if (is_letter(c) || (c == '.' && is_letter(peek(1)))) {
        take_word(made);
    } else if (is_digit(c)) {
        take_number(made);
    } else if (c == '"' || c == '\'') {
        take_quoted(made, c);
    } else {
        take_symbol(made);
    }
    return made;
}

}  // namespace elog
