// SPDX-License-Identifier: MIT
//
// The names of an enumeration's values that can be found at compile time.
//
// One template has all likely values as arguments. The compiler's spelling of these arguments shows
// which of them have names: `color::red` has one, `(color)7` has none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include <eventlog/detail/checked_info.hpp>
#include <eventlog/detail/distinct.hpp>
#include <eventlog/detail/names.hpp>
#include <eventlog/schema_format.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

struct named_value {
    std::int64_t value = 0;
    std::string_view name{};
};

/// An enumeration in a schema. There is one object for each type, which is identified by its
/// address.
struct enum_description {
    std::string_view name;
    bool is_bitmask;
    const named_value* values;
    std::size_t value_count;
    bool is_distinct;  // each value and each name occurs once
};

template <class Enum, Enum... Values>
consteval std::string_view spelled_values() {
    return __PRETTY_FUNCTION__;
}

/// Enumerations for which every value of the underlying type is valid. Others must not be tried.
template <class Enum>
concept fixed_enum = std::is_enum_v<Enum> && requires {
    Enum{0};
};

inline constexpr std::int64_t first_tried = -1;
inline constexpr std::size_t small_tried = 128;  // -1 to 126
inline constexpr std::size_t powers_tried = 57;  // 2^7 to 2^63

constexpr std::int64_t tried_value(std::size_t index) {
    return index < small_tried
               ? first_tried + static_cast<std::int64_t>(index)
               : static_cast<std::int64_t>(std::uint64_t{1} << (index - small_tried + 7));
}

/// Whether the type can hold a value. If not, zero is tried instead and left out again below.
template <class Enum>
constexpr bool can_hold(std::int64_t value) {
    using underlying = std::underlying_type_t<Enum>;
    if constexpr (sizeof(underlying) == 8) {
        return std::is_signed_v<underlying> || value != first_tried;
    } else {
        return value >= std::int64_t{std::numeric_limits<underlying>::min()} &&
               value <= std::int64_t{std::numeric_limits<underlying>::max()};
    }
}

/// In the underlying type: for an int64_t, g++ warns that the enumeration may not have all of its
/// values.
template <class Enum>
constexpr std::underlying_type_t<Enum> as_underlying(std::int64_t value) {
    return can_hold<Enum>(value) ? static_cast<std::underlying_type_t<Enum>>(value) : 0;
}

template <class Enum, std::size_t... Index>
consteval std::string_view spelled_tried_values(std::index_sequence<Index...>) {
    return spelled_values<Enum, static_cast<Enum>(as_underlying<Enum>(tried_value(Index)))...>();
}

struct found_values {
    std::array<named_value, small_tried + powers_tried> values{};
    std::size_t count = 0;
};

template <class Enum>
consteval found_values find_values() {
    constexpr std::size_t tried = small_tried + powers_tried;
    std::string_view rest = spelled_tried_values<Enum>(std::make_index_sequence<tried>{});
    // g++: "...; Enum ...Values = {a, b}; ...", clang: "..., Values = <a, b>]".
    rest.remove_prefix(rest.find("Values = ") + 10);
    found_values found;
    for (std::size_t i = 0; i < tried; ++i) {
        std::size_t end = 0;
        for (int depth = 0;
             depth != 0 || (rest[end] != ',' && rest[end] != '}' && rest[end] != '>'); ++end) {
            depth += change_of_depth(rest[end]);
        }
        // Behind the scope or the cast; an unnamed namespace is in parentheses, too.
        const std::string_view spelled = rest.substr(0, end);
        const std::string_view last = spelled.substr(spelled.find_last_of(":)") + 1);
        rest.remove_prefix(end + (rest[end] == ',' ? 2 : 0));
        const bool is_number = (last[0] >= '0' && last[0] <= '9') || last[0] == '-';
        if (!is_number && can_hold<Enum>(tried_value(i))) {
            found.values[found.count++] = {tried_value(i), last};
        }
    }
    return found;
}

/// The number of values in the info, up to the last that is not empty. An empty one in front of
/// it is an error.
template <class Enum>
consteval std::size_t count_given_values() {
    std::size_t count = enum_values_max;
    while (count > 0 && checked_enum_info<Enum>.values[count - 1].value == 0 &&
           *checked_enum_info<Enum>.values[count - 1].name == 0) {
        --count;
    }
    return count;
}

template <class Enum>
struct values_of {
    static constexpr std::size_t given = count_given_values<Enum>();

    static constexpr auto values = [] {
        if constexpr (given != 0) {
            std::array<named_value, given> copied{};
            for (std::size_t i = 0; i < given; ++i) {
                copied[i] = {checked_enum_info<Enum>.values[i].value,
                             checked_enum_info<Enum>.values[i].name};
            }
            return copied;
        } else if constexpr (fixed_enum<Enum>) {
            constexpr found_values found = find_values<Enum>();
            std::array<named_value, found.count> copied{};
            for (std::size_t i = 0; i < found.count; ++i) {
                copied[i] = found.values[i];
            }
            return copied;
        } else {
            return std::array<named_value, 0>{};
        }
    }();
};

template <std::size_t Count>
consteval bool are_distinct(const std::array<named_value, Count>& named) {
    std::uint64_t values[Count]{};
    std::uint64_t names[Count]{};
    for (std::size_t i = 0; i < Count; ++i) {
        values[i] = static_cast<std::uint64_t>(named[i].value);
        names[i] = hash_of(named[i].name);
    }
    return are_distinct(values) && are_distinct(names);
}

/// Names that the compiler finds are distinct.
template <class Enum>
consteval bool is_distinct_enum() {
    if constexpr (values_of<Enum>::given != 0) {
        return are_distinct(values_of<Enum>::values);
    } else {
        return true;
    }
}

template <class Enum>
inline constexpr enum_description description_of_enum{
    type_name<Enum>(), checked_enum_info<Enum>.is_bitmask, values_of<Enum>::values.data(),
    values_of<Enum>::values.size(), is_distinct_enum<Enum>()};

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
