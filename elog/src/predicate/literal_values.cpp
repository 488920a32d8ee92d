// SPDX-License-Identifier: MIT
#include "predicate/literal_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "schema/patterns.hpp"
#include "text/time_literal.hpp"

namespace elog {
namespace {

constexpr int errors_max = 4096;

std::optional<std::uint64_t> find_error_number(std::string_view name, bool negative) {
    for (int number = 1; number < errors_max; ++number) {
        const char* known = ::strerrorname_np(number);
        if (known != nullptr && name == known) {
            return static_cast<std::uint64_t>(std::int64_t{negative ? -number : number});
        }
    }
    return std::nullopt;
}

/// The field's own unit in nanoseconds or bytes; 0 if the field measures something else.
std::uint64_t field_unit_factor(const value_location& place, dimension measures) noexcept {
    using eventlog::format;
    const number_unit* unit = find_unit(place.unit);
    if (unit != nullptr && unit->measures != dimension::none) {
        return unit->measures == measures ? unit->factor : 0;
    }
    const bool is_time = place.format == format::duration || place.format == format::monotonic;
    const bool is_size =
        place.format == format::byte_size ||
        ((place.format == format::plain || place.format == format::decimal) && place.unit.empty());
    return (measures == dimension::time ? is_time : is_size) ? 1 : 0;
}

/// What the numbers of a field measure, and in which unit.
struct measure {
    enum class kind { nothing, time, size, point_in_time, other };
    kind of = kind::nothing;
    std::uint64_t factor = 1;      // of a time in nanoseconds, of a size in bytes
    std::string_view unit_name{};  // as in the schema, of all but formats
};

measure measure_of(const value_location& place) noexcept {
    using eventlog::format;
    if (!place.unit.empty()) {
        const number_unit* unit = find_unit(place.unit);
        if (unit == nullptr || unit->measures == dimension::none) {
            return {measure::kind::other, 1, place.unit};
        }
        const bool is_time = unit->measures == dimension::time;
        return {is_time ? measure::kind::time : measure::kind::size, unit->factor, place.unit};
    }
    switch (place.format) {
        case format::duration:
        case format::monotonic:
            return {measure::kind::time, 1, {}};
        case format::byte_size:
            return {measure::kind::size, 1, {}};
        case format::realtime:
            return {measure::kind::point_in_time, 1, {}};
        default:
            return {};
    }
}

std::uint64_t unit_divisor(std::string_view source, const value_location& place,
                           const expression_token& literal, std::string_view called) {
    const number_unit& unit = literal.number.unit;
    if (unit.measures == dimension::none) {
        return 1;
    }
    const std::uint64_t own = field_unit_factor(place, unit.measures);
    if (own == 0) {
        reject_expression(source, literal.column,
                          fmt::format("{} is no {}: remove the unit '{}'.", called,
                                      unit.measures == dimension::time ? "time" : "size",
                                      unit.name));
    }
    return own;
}

wide_integer power_of_ten(unsigned exponent) noexcept {
    wide_integer power = 1;
    for (; exponent != 0; --exponent) {
        power *= 10;
    }
    return power;
}

}  // namespace

std::string_view name_of(value_class is) noexcept {
    switch (is) {
        case value_class::boolean:
            return "a bool";
        case value_class::character:
            return "a char";
        case value_class::integer:
        case value_class::floating:
            return "a number";
        case value_class::text:
            return "a text";
        case value_class::address:
            return "an address";
        case value_class::bytes:
            return "a byte string";
        case value_class::array:
            return "an array";
    }
    return "unknown";
}

std::optional<std::uint64_t> find_named_value(const value_location& place, std::string_view name,
                                              bool negative) {
    if (place.stored.is != value_class::integer) {
        return std::nullopt;
    }
    if (place.enumeration == nullptr) {
        return place.format == eventlog::format::error_number ? find_error_number(name, negative)
                                                              : std::nullopt;
    }
    if (place.enumeration == &level_names() && !negative) {
        const std::optional<eventlog::level> level = find_wanted_level(name);
        return level ? std::optional(static_cast<std::uint64_t>(*level)) : std::nullopt;
    }
    const auto& values = place.enumeration->values;
    const auto found = std::find_if(values.begin(), values.end(),
                                    [&](const auto& value) { return value.second == name; });
    return found == values.end() || negative ? std::nullopt : std::optional(found->first);
}

wide_integer integer_literal(std::string_view source, const expression_token& literal) {
    const number_literal& number = literal.number;
    if (!number.exact || number.decimals != 0 || number.unit.measures != dimension::none) {
        reject_expression(source, literal.column, "A whole number without a unit is needed here.");
    }
    const wide_integer value =
        static_cast<wide_integer>(number.mantissa) * static_cast<wide_integer>(number.unit.factor);
    if (value > static_cast<wide_integer>(std::numeric_limits<std::uint64_t>::max())) {
        reject_expression(source, literal.column, "The number does not fit 64 bits.");
    }
    return number.negative ? -value : value;
}

ratio literal_in_field_unit(std::string_view source, const value_location& place,
                            const expression_token& literal, std::string_view called) {
    const number_literal& number = literal.number;
    if (!number.exact) {
        reject_expression(
            source, literal.column,
            fmt::format("{} is an integer: write the number without exponent.", called));
    }
    // At most 64 bits times 45 bits, and 60 bits times 45: no overflow of 127 bits.
    ratio made;
    made.numerator =
        static_cast<wide_integer>(number.mantissa) * static_cast<wide_integer>(number.unit.factor);
    made.numerator = number.negative ? -made.numerator : made.numerator;
    made.denominator = power_of_ten(number.decimals) *
                       static_cast<wide_integer>(unit_divisor(source, place, literal, called));
    return made;
}

double floating_literal(std::string_view source, const value_location& place,
                        const expression_token& literal, std::string_view called) {
    const double value =
        literal.number.floating / static_cast<double>(unit_divisor(source, place, literal, called));
    // A field of 32 bits contains the nearest float, so compare with that.
    const bool is_narrow = place.stored.type == eventlog::field_type::float_32 &&
                           std::fabs(value) <= double{std::numeric_limits<float>::max()};
    return is_narrow ? static_cast<double>(static_cast<float>(value)) : value;
}

std::optional<unit_factors> common_unit(const value_location& left,
                                        const value_location& right) noexcept {
    const measure one = measure_of(left);
    const measure other = measure_of(right);
    if (one.of == measure::kind::nothing || other.of == measure::kind::nothing) {
        return unit_factors{};
    }
    const bool is_same =
        one.of == other.of && (one.of != measure::kind::other || one.unit_name == other.unit_name);
    if (!is_same) {
        return std::nullopt;
    }
    const std::uint64_t divisor = std::gcd(one.factor, other.factor);
    return unit_factors{one.factor / divisor, other.factor / divisor};
}

std::string describe_unit(const value_location& place) {
    const measure found = measure_of(place);
    const std::string unit =
        found.unit_name.empty() ? std::string() : fmt::format(" in {}", found.unit_name);
    switch (found.of) {
        case measure::kind::time:
            return "a time" + unit;
        case measure::kind::size:
            return "a size" + unit;
        case measure::kind::point_in_time:
            return "a point in time";
        case measure::kind::other:
            return "a number" + unit;
        case measure::kind::nothing:
            break;
    }
    return "a number without a unit";
}

std::int64_t parse_time_literal(std::string_view source, const expression_token& literal,
                                std::int64_t field_reference, comparison how) {
    const bool is_end = how == comparison::less || how == comparison::less_equal;
    const std::optional<std::int64_t> time =
        parse_time(literal.text, field_reference, {.is_later = is_end});
    if (!time) {
        reject_expression(source, literal.column,
                          "This is no time: write \"2026-11-21T14:03:07.5\", in local time, "
                          "\"...Z\" in UTC, or \"14:03:07\".");
    }
    return *time;
}

bit_range matching_range(const ratio& number, comparison how, bool is_signed) noexcept {
    wide_integer floor = number.numerator / number.denominator;
    const bool exact = floor * number.denominator == number.numerator;
    floor -= !exact && number.numerator < 0 ? 1 : 0;
    wide_integer first =
        is_signed ? wide_integer{std::numeric_limits<std::int64_t>::min()} : wide_integer{0};
    wide_integer last = is_signed ? wide_integer{std::numeric_limits<std::int64_t>::max()}
                                  : wide_integer{std::numeric_limits<std::uint64_t>::max()};
    if (how == comparison::unequal) {
        // All integers but one are a range that wraps around and begins after the number.
        if (!exact || floor < first || floor > last) {
            return {};
        }
        return {static_cast<std::uint64_t>(floor) + 1, ~std::uint64_t{0} - 1, false};
    }
    if (how == comparison::equal) {
        first = std::max(first, floor);
        last = exact ? std::min(last, floor) : first - 1;
    } else if (how == comparison::less) {
        last = std::min(last, exact ? floor - 1 : floor);
    } else if (how == comparison::less_equal) {
        last = std::min(last, floor);
    } else if (how == comparison::greater) {
        first = std::max(first, floor + 1);
    } else {
        first = std::max(first, exact ? floor : floor + 1);
    }
    if (first > last) {
        return {0, ~std::uint64_t{0}, true};
    }
    return {static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(last - first), false};
}

void map_ipv4_to_ipv6(std::size_t size, address_literal& address) noexcept {
    if (size != 16 || address.size != 4) {
        return;
    }
    address_literal mapped = address;
    mapped.bytes = {};
    mapped.bytes[10] = 0xff;
    mapped.bytes[11] = 0xff;
    std::copy_n(address.bytes.begin(), 4, mapped.bytes.begin() + 12);
    mapped.size = 16;
    mapped.bits += 96;
    address = mapped;
}

}  // namespace elog
