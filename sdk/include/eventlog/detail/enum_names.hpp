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

/// Values with their names, of at most `Capacity`.
template <std::size_t Capacity>
struct found_values {
    named_value values[Capacity]{};
    std::size_t count = 0;
};

constexpr bool begins_number(char character) {
    return (character >= '0' && character <= '9') || character == '-';
}

constexpr bool ends_value(char character) {
    return character == ',' || character == '}' || character == '>';
}

/// Stores the names of `count` values; that of a value without a name is empty.
constexpr void read_value_names(std::string_view spelled, std::size_t count, named_value* read) {
    // g++: "...; Enum ...Values = {a, b}; ...", clang: "..., Values = <a, b>]".
    const char* at = spelled.data() + spelled.find("Values = ") + 10;
    const char* const end = spelled.data() + spelled.size();
    // The length of the cast of a value without a name, which most of the tried ones are; 0: not
    // known yet.
    std::size_t cast = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (cast != 0 && *at == '(' && static_cast<std::size_t>(end - at) > cast &&
            at[cast - 1] == ')' && begins_number(at[cast])) {
            at += cast;
            while (!ends_value(*at)) {
                ++at;
            }
            at += 2;
            continue;
        }
        const char* const begin = at;
        const char* last = at;  // behind the scope or the cast
        // An unnamed namespace is in parentheses, too.
        for (int depth = 0; depth != 0 || !ends_value(*at); ++at) {
            depth += change_of_depth(*at);
            last = *at == ':' || *at == ')' ? at + 1 : last;
        }
        if (begins_number(*last)) {
            cast = static_cast<std::size_t>(last - begin);
        } else {
            read[i].name = {last, static_cast<std::size_t>(at - last)};
        }
        at += 2;
    }
}

template <class Enum>
consteval auto find_values() {
    constexpr std::size_t tried = small_tried + powers_tried;
    found_values<tried> found;
    read_value_names(spelled_tried_values<Enum>(std::make_index_sequence<tried>{}), tried,
                     found.values);
    for (std::size_t i = 0; i < tried; ++i) {
        if (!found.values[i].name.empty() && can_hold<Enum>(tried_value(i))) {
            found.values[found.count++] = {tried_value(i), found.values[i].name};
        }
    }
    return found;
}

/// Whether find_values tries a value.
constexpr bool is_tried(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    return (value >= first_tried && value < first_tried + std::int64_t{small_tried}) ||
           (bits & (bits - 1)) == 0;
}

/// A range is evaluated in parts, because compilers limit the steps of one evaluation.
inline constexpr std::size_t part_size = 128;

template <class Enum, std::int64_t First, std::size_t... Index>
consteval std::string_view spelled_part(std::index_sequence<Index...>) {
    return spelled_values<Enum, static_cast<Enum>(as_underlying<Enum>(
                                    First + static_cast<std::int64_t>(Index)))...>();
}

template <class Enum, std::int64_t First, std::size_t Size>
consteval auto find_values_of_part() {
    found_values<Size> found;
    read_value_names(spelled_part<Enum, First>(std::make_index_sequence<Size>{}), Size,
                     found.values);
    for (std::size_t i = 0; i < Size; ++i) {
        const std::int64_t value = First + static_cast<std::int64_t>(i);
        if (!found.values[i].name.empty() && can_hold<Enum>(value) && !is_tried(value)) {
            found.values[found.count++] = {value, found.values[i].name};
        }
    }
    return found;
}

template <class Enum, std::int64_t First, std::size_t Size>
inline constexpr auto values_of_part = find_values_of_part<Enum, First, Size>();

struct value_part {
    const named_value* values;
    std::size_t count;
};

/// The values in the range of the info that find_values does not try.
template <class Enum>
struct values_in_range {
    static constexpr enum_range range = checked_enum_info<Enum>.range;
    static constexpr std::size_t tried = static_cast<std::size_t>(range.last - range.first) + 1;

    /// The first value of a part, and the number of its values.
    static constexpr std::int64_t first(std::size_t part) {
        return range.first + static_cast<std::int64_t>(part * part_size);
    }
    static constexpr std::size_t size(std::size_t part) {
        const std::size_t rest = tried - part * part_size;
        return rest < part_size ? rest : part_size;
    }
    template <std::size_t... Part>
    static consteval auto list_parts(std::index_sequence<Part...>) {
        return std::array<value_part, sizeof...(Part)>{
            value_part{values_of_part<Enum, first(Part), size(Part)>.values,
                       values_of_part<Enum, first(Part), size(Part)>.count}...};
    }
    static constexpr auto parts =
        list_parts(std::make_index_sequence<(tried + part_size - 1) / part_size>{});
    static constexpr std::size_t count = [] {
        std::size_t sum = 0;
        for (const value_part& each : parts) {
            sum += each.count;
        }
        return sum;
    }();
};

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

/// Whether the range of the info has other values than 0, which is tried anyway.
template <class Enum>
inline constexpr bool has_range =
    checked_enum_info<Enum>.range.first != 0 || checked_enum_info<Enum>.range.last != 0;

template <class Enum>
consteval bool range_is_sound() {
    constexpr enum_range range = checked_enum_info<Enum>.range;
    return range.first <= range.last &&
           static_cast<std::uint64_t>(range.last) - static_cast<std::uint64_t>(range.first) <
               enum_range_max;
}

/// Whether there is a range whose values can be tried. Rejects an unusable range with a message.
template <class Enum>
consteval bool tries_range() {
    if constexpr (has_range<Enum>) {
        static_assert(range_is_sound<Enum>(),
                      "eventlog: the range of an eventlog::enum_info is reversed, or has more than "
                      "4096 values, each of which the compiler tries. Write the smaller value "
                      "first, or list the values in .values.");
        static_assert(fixed_enum<Enum>,
                      "eventlog: the range of an eventlog::enum_info needs an enumeration whose "
                      "type is fixed. Write enum class, or enum with a type, or list the values in "
                      ".values.");
        static_assert(count_given_values<Enum>() == 0,
                      "eventlog: an eventlog::enum_info has both .values and .range. Remove one: "
                      ".values replaces all names that are found.");
        return fixed_enum<Enum> && range_is_sound<Enum>();
    } else {
        return false;
    }
}

template <class Enum>
inline constexpr bool tries_more = tries_range<Enum>();

template <class Enum>
struct values_of {
    static constexpr std::size_t given = count_given_values<Enum>();
    static constexpr std::size_t copy(const named_value* from, std::size_t count, named_value* to) {
        for (std::size_t i = 0; i < count; ++i) {
            to[i] = from[i];
        }
        return count;
    }

    static constexpr auto values = [] {
        if constexpr (given != 0 && !tries_more<Enum>) {
            std::array<named_value, given> copied{};
            for (std::size_t i = 0; i < given; ++i) {
                copied[i] = {checked_enum_info<Enum>.values[i].value,
                             checked_enum_info<Enum>.values[i].name};
            }
            return copied;
        } else if constexpr (tries_more<Enum>) {
            constexpr auto found = find_values<Enum>();
            using in_range = values_in_range<Enum>;
            std::array<named_value, found.count + in_range::count> copied{};
            std::size_t next = copy(found.values, found.count, copied.data());
            for (const value_part& part : in_range::parts) {
                next += copy(part.values, part.count, copied.data() + next);
            }
            return copied;
        } else if constexpr (fixed_enum<Enum>) {
            constexpr auto found = find_values<Enum>();
            std::array<named_value, found.count> copied{};
            copy(found.values, found.count, copied.data());
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
