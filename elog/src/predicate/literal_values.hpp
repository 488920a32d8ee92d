// SPDX-License-Identifier: MIT
//
// What the values in a predicate mean for the field that they are compared with: the type, the
// format and the unit of the field decide.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "predicate/expression_lexer.hpp"
#include "predicate/predicate.hpp"
#include "predicate/value_location.hpp"
#include "text/wide_integer.hpp"

namespace elog {

/// A number, exactly.
struct ratio {
    wide_integer numerator = 0;
    wide_integer denominator = 1;  // above 0
};

/// The bits of integers that lie next to one another: bits - low <= span.
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

/// The number that the place's enumeration, or errno, calls so.
[[nodiscard]] std::optional<std::uint64_t> find_named_value(const value_location& place,
                                                            std::string_view name, bool negative);

/// A number without fraction and unit. Throws failure.
[[nodiscard]] wide_integer integer_literal(std::string_view source,
                                           const expression_token& literal);

/// In the field's unit. Throws failure if the literal's unit measures something else; `called` says
/// how complaints call the field.
[[nodiscard]] ratio literal_in_field_unit(std::string_view source, const value_location& place,
                                          const expression_token& literal, std::string_view called);
[[nodiscard]] double floating_literal(std::string_view source, const value_location& place,
                                      const expression_token& literal, std::string_view called);

/// Nanoseconds since 1970. Throws failure.
[[nodiscard]] std::int64_t parse_time_literal(std::string_view source,
                                              const expression_token& literal,
                                              std::int64_t field_reference);

/// Which integers of 64 bits stand to the number as the comparison says.
[[nodiscard]] bit_range matching_range(const ratio& number, comparison how,
                                       bool is_signed) noexcept;

/// An IPv4 address as an IPv6 address, if the field has 16 bytes.
void map_ipv4_to_ipv6(std::size_t size, address_literal& address) noexcept;

}  // namespace elog
