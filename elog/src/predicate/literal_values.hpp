// SPDX-License-Identifier: MIT
//
// The meaning of a predicate's literals for the field they are compared with. Type, format and unit
// of the field decide.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "predicate/expression_lexer.hpp"
#include "predicate/predicate.hpp"
#include "predicate/value_location.hpp"
#include "text/wide_integer.hpp"

namespace elog {

/// An exact number.
struct ratio {
    wide_integer numerator = 0;
    wide_integer denominator = 1;  // positive
};

/// A range of consecutive integers: bits - low <= span.
struct bit_range {
    std::uint64_t low = 0;
    std::uint64_t span = ~std::uint64_t{0};
    bool is_empty = false;
};

/// "a number", "a text", ...
[[nodiscard]] std::string_view name_of(value_class is) noexcept;
[[nodiscard]] constexpr bool is_number(value_class is) noexcept {
    return is == value_class::integer || is == value_class::floating;
}

/// The number with that name in the field's enumeration or, for error numbers, in errno.
[[nodiscard]] std::optional<std::uint64_t> find_named_value(const value_location& place,
                                                            std::string_view name, bool negative);

/// A number without fraction and unit. Throws user_error.
[[nodiscard]] wide_integer integer_literal(std::string_view source,
                                           const expression_token& literal);

/// The literal in the field's unit. Throws user_error if the literal's unit measures something
/// else; `called` is the field's name in messages.
[[nodiscard]] ratio literal_in_field_unit(std::string_view source, const value_location& place,
                                          const expression_token& literal, std::string_view called);
[[nodiscard]] double floating_literal(std::string_view source, const value_location& place,
                                      const expression_token& literal, std::string_view called);

/// Factors that bring two numbers to a common unit, without a common divisor.
struct unit_factors {
    std::uint64_t left = 1;
    std::uint64_t right = 1;
};

/// The factors for the numbers of two fields; nullopt: they measure different things. A number that
/// measures nothing is taken in the unit of the other one, like a literal without a unit.
[[nodiscard]] std::optional<unit_factors> common_unit(const value_location& left,
                                                      const value_location& right) noexcept;

/// "a time in ms", "a number without a unit", ...
[[nodiscard]] std::string describe_unit(const value_location& place);

/// Nanoseconds since 1970. Of an hour that occurs twice, the end of a range is the later one.
/// Throws user_error.
[[nodiscard]] std::int64_t parse_time_literal(std::string_view source,
                                              const expression_token& literal,
                                              std::int64_t field_reference, comparison how);

/// The 64-bit integers for which the comparison with `number` holds.
[[nodiscard]] bit_range matching_range(const ratio& number, comparison how,
                                       bool is_signed) noexcept;

/// Maps an IPv4 address to IPv6 if the field has 16 bytes.
void map_ipv4_to_ipv6(std::size_t size, address_literal& address) noexcept;

}  // namespace elog
