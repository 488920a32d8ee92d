// SPDX-License-Identifier: MIT
//
// Which C++ types a field may have, and what they become.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <boost/pfr/core.hpp>
#include <boost/pfr/tuple_size.hpp>

#include <eventlog/schema_format.hpp>

namespace eventlog::detail {

template <class Field>
concept text_field = std::same_as<Field, std::string_view> || std::same_as<Field, std::string> ||
    std::same_as<Field, const char*> || std::same_as<Field, char*>;

/// Integers proper: not the character types, whose meaning is another.
template <class Field>
concept integer_field = std::integral<Field> && sizeof(Field) <= 8 && !std::same_as<Field, bool> &&
                        !std::same_as<Field, char> && !std::same_as<Field, wchar_t> &&
                        !std::same_as<Field, char8_t> && !std::same_as<Field, char16_t> &&
                        !std::same_as<Field, char32_t>;

template <class Field>
concept fixed_field = integer_field<Field> || std::same_as<Field, bool> ||
    std::same_as<Field, char> || std::same_as<Field, float> || std::same_as<Field, double>;

template <class Field>
concept carriable_field = text_field<Field> || fixed_field<Field>;

consteval field_type integer_type(bool is_signed, std::size_t size) {
    switch (size) {
        case 1:
            return is_signed ? field_type::signed_8 : field_type::unsigned_8;
        case 2:
            return is_signed ? field_type::signed_16 : field_type::unsigned_16;
        case 4:
            return is_signed ? field_type::signed_32 : field_type::unsigned_32;
        default:
            return is_signed ? field_type::signed_64 : field_type::unsigned_64;
    }
}

template <carriable_field Field>
consteval field_type type_of() {
    if constexpr (text_field<Field>) {
        return field_type::text;
    } else if constexpr (std::same_as<Field, bool>) {
        return field_type::boolean;
    } else if constexpr (std::same_as<Field, char>) {
        return field_type::character;
    } else if constexpr (std::same_as<Field, float>) {
        return field_type::float_32;
    } else if constexpr (std::same_as<Field, double>) {
        return field_type::float_64;
    } else {
        return integer_type(std::is_signed_v<Field>, sizeof(Field));
    }
}

// C arrays. Boost.PFR counts each element of one as a field, and then fails in a way that nobody
// understands, so they are found first: at position I a C array of numbers takes a braced pair of
// numbers, but no object of class type, which a std::array or a std::string would take.

struct any_value {
    template <class Target>
    constexpr operator Target() const noexcept;
};

struct any_number {
    template <class Target>
    requires std::is_arithmetic_v<Target>
    constexpr operator Target() const noexcept;
};

struct any_object {
    template <class Target>
    requires std::is_class_v<Target>
    constexpr operator Target() const noexcept;
};

template <std::size_t>
using any_value_for = any_value;

template <class Aggregate, std::size_t... Before>
consteval bool c_array_behind(std::index_sequence<Before...>) {
    return requires {
        Aggregate{any_value_for<Before>{}..., {any_number{}, any_number{}}};
    }
    &&!requires {
        Aggregate{any_value_for<Before>{}..., any_object{}};
    };
}

template <class Aggregate, std::size_t... Index>
consteval bool has_c_array(std::index_sequence<Index...>) {
    return (... || c_array_behind<Aggregate>(std::make_index_sequence<Index>{}));
}

template <class Aggregate>
consteval bool contains_c_array() {
    if constexpr (std::is_aggregate_v<Aggregate> && !std::is_empty_v<Aggregate>) {
        return has_c_array<Aggregate>(
            std::make_index_sequence<boost::pfr::tuple_size_v<Aggregate>>{});
    } else {
        return false;  // refused for another reason
    }
}

/// Refuses, in words, an event type that cannot be carried. Instantiated before anything else looks
/// at the type.
template <class Event>
struct check_event {
    static_assert(std::is_class_v<Event> && std::is_aggregate_v<Event>,
                  "eventlog: an event must be a plain struct: no constructors, no private members, "
                  "no virtual functions. Make it an aggregate.");
    static_assert(!std::is_empty_v<Event>,
                  "eventlog: an event must have at least one field. Add one to the struct.");
    static_assert(!contains_c_array<Event>(),
                  "eventlog: an event has a C array as field. Use std::string_view for text, or "
                  "one field per element.");

    static constexpr bool usable = true;
};

template <class Event, std::size_t Index>
struct check_field {
    using field = std::remove_cv_t<boost::pfr::tuple_element_t<Index, Event>>;
    static_assert(carriable_field<field>,
                  "eventlog: a field of this event has a type that cannot be carried. Use bool, "
                  "char, an integer of 8 to 64 bits, float, double, std::string_view, std::string "
                  "or const char*.");
};

}  // namespace eventlog::detail
