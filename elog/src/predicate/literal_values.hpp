// SPDX-License-Identifier: MIT
//
// What the values in a predicate mean for the field that they are compared with: the type, the
// format and the unit of the field decide.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "predicate/expression_tokens.hpp"
#include "predicate/predicate.hpp"
#include "predicate/record_place.hpp"
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
[[nodiscard]] std::optional<std::uint64_t> find_value(const record_place& place,
                                                      std::string_view name, bool negative);

/// A number without fraction and unit. Throws failure.
[[nodiscard]] wide_integer whole_number(std::string_view source, const expression_token& literal);

/// In the field's unit. Throws failure if the literal's unit measures something else; `called` says
/// how complaints call the field.
[[nodiscard]] ratio scaled_number(std::string_view source, const record_place& place,
                                  const expression_token& literal, std::string_view called);
[[nodiscard]] double floating_value(std::string_view source, const record_place& place,
                                    const expression_token& literal, std::string_view called);

/// Nanoseconds since 1970. Throws failure.
[[nodiscard]] std::int64_t moment(std::string_view source, const expression_token& literal,
                                  std::int64_t reference);

/// Which integers of 64 bits stand to the number as the comparison says.
[[nodiscard]] bit_range range_of(const ratio& number, comparison how, bool is_signed) noexcept;

/// An IPv4 address as an IPv6 address, if the field has 16 bytes.
void map_to(std::size_t size, address_literal& address) noexcept;

}  // namespace elog
