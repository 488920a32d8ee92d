// SPDX-License-Identifier: MIT
//
// Which C++ types a field may have, and what they become.
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <boost/pfr/core.hpp>
#include <boost/pfr/tuple_size.hpp>

#include <eventlog/addresses.hpp>
#include <eventlog/detail/enum_names.hpp>
#include <eventlog/schema_format.hpp>

namespace eventlog::detail {

template <class Field>
concept text_field = std::same_as<Field, std::string_view> || std::same_as<Field, std::string> ||
    std::same_as<Field, const char*> || std::same_as<Field, char*>;

template <class Field>
inline constexpr bool is_byte = std::same_as<std::remove_cv_t<Field>, std::byte> ||
                                std::same_as<std::remove_cv_t<Field>, std::uint8_t>;

template <class Field>
inline constexpr bool is_byte_span = false;
template <class Byte>
inline constexpr bool is_byte_span<std::span<Byte>> = is_byte<Byte>;

template <class Field>
concept bytes_field = is_byte_span<Field>;

/// What is in the fixed part as a u32 and has its bytes behind it.
template <class Field>
concept variable_field = text_field<Field> || bytes_field<Field>;

/// Integers proper: not the character types, whose meaning is another.
template <class Field>
concept integer_field = std::integral<Field> && sizeof(Field) <= 8 && !std::same_as<Field, bool> &&
                        !std::same_as<Field, char> && !std::same_as<Field, wchar_t> &&
                        !std::same_as<Field, char8_t> && !std::same_as<Field, char16_t> &&
                        !std::same_as<Field, char32_t>;

template <class Field>
concept address_field = std::same_as<Field, ipv4_address> || std::same_as<Field, ipv6_address> ||
    std::same_as<Field, mac_address>;

template <class Field>
inline constexpr bool is_duration = false;
template <class Number, class Period>
inline constexpr bool is_duration<std::chrono::duration<Number, Period>> = true;

template <class Field>
inline constexpr bool is_time_point = false;
template <class Duration>
inline constexpr bool is_time_point<std::chrono::time_point<std::chrono::system_clock, Duration>> =
    true;
template <class Duration>
inline constexpr bool is_time_point<std::chrono::time_point<std::chrono::steady_clock, Duration>> =
    true;

template <class Field>
concept pointer_field = (std::is_pointer_v<Field> && !text_field<Field> &&
                         !std::is_function_v<std::remove_pointer_t<Field>>) ||
                        std::same_as<Field, std::nullptr_t>;

/// One value of its own in the fixed part.
template <class Field>
concept scalar_field =
    integer_field<Field> || std::same_as<Field, bool> || std::same_as<Field, std::byte> ||
    std::same_as<Field, char> || std::same_as<Field, float> || std::same_as<Field, double> ||
    std::is_enum_v<Field> || is_duration<Field> || is_time_point<Field> || pointer_field<Field>;

template <class Field>
inline constexpr bool is_array = false;
template <class Element, std::size_t Count>
inline constexpr bool is_array<std::array<Element, Count>> =
    scalar_field<Element>&& Count != 0 && Count <= 0xfff0;

template <class Field>
concept array_field = is_array<Field>;

template <class Field>
concept value_field =
    scalar_field<Field> || array_field<Field> || address_field<Field> || variable_field<Field>;

template <class Field>
inline constexpr bool is_optional = false;
template <class Value>
inline constexpr bool is_optional<std::optional<Value>> = value_field<Value>;

/// What stands in the payload as one field.
template <class Field>
concept leaf_field = value_field<Field> || is_optional<Field>;

template <class Field>
inline constexpr bool is_std_array = false;
template <class Element, std::size_t Count>
inline constexpr bool is_std_array<std::array<Element, Count>> = true;

/// A struct whose members stand in the payload instead of it.
template <class Field>
concept nested_field =
    std::is_class_v<Field> && std::is_aggregate_v<Field> && !std::is_empty_v<Field> &&
    !leaf_field<Field> && !is_std_array<Field>;

template <class Field>
struct inner {
    using type = Field;
};
template <class Value>
struct inner<std::optional<Value>> {
    using type = Value;
};

/// The type without its optional.
template <class Field>
using inner_of = typename inner<Field>::type;

template <class Field>
struct element {
    using type = Field;
    static constexpr std::size_t count = 1;
};
template <class Element, std::size_t Count>
struct element<std::array<Element, Count>> {
    using type = Element;
    static constexpr std::size_t count = Count;
};
template <address_field Field>
struct element<Field> {
    using type = std::uint8_t;
    static constexpr std::size_t count = sizeof(Field);
};

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

template <class Field>
consteval field_type type_of() {
    if constexpr (text_field<Field>) {
        return field_type::text;
    } else if constexpr (bytes_field<Field>) {
        return field_type::bytes;
    } else if constexpr (std::same_as<Field, bool>) {
        return field_type::boolean;
    } else if constexpr (std::same_as<Field, char>) {
        return field_type::character;
    } else if constexpr (std::same_as<Field, float>) {
        return field_type::float_32;
    } else if constexpr (std::same_as<Field, double>) {
        return field_type::float_64;
    } else if constexpr (std::same_as<Field, std::byte>) {
        return field_type::unsigned_8;
    } else if constexpr (is_duration<Field> || is_time_point<Field>) {
        return field_type::signed_64;
    } else if constexpr (pointer_field<Field>) {
        return field_type::unsigned_64;
    } else if constexpr (std::is_enum_v<Field>) {
        return integer_type(std::is_signed_v<std::underlying_type_t<Field>>, sizeof(Field));
    } else {
        return integer_type(std::is_signed_v<Field>, sizeof(Field));
    }
}

template <class Field>
consteval format format_of() {
    using single = typename element<Field>::type;
    if constexpr (std::same_as<Field, mac_address>) {
        return format::mac_address;
    } else if constexpr (address_field<Field>) {
        return format::ip_address;
    } else if constexpr (is_duration<single>) {
        return format::duration;
    } else if constexpr (is_time_point<single>) {
        return std::same_as<typename single::clock, std::chrono::system_clock> ? format::realtime
                                                                               : format::monotonic;
    } else if constexpr (pointer_field<single> || std::same_as<single, std::byte>) {
        return format::hexadecimal;
    } else if constexpr (array_field<Field> && std::same_as<single, char>) {
        return format::characters;
    } else {
        return format::plain;
    }
}

template <class Field>
inline constexpr bool has_enumeration = std::is_enum_v<typename element<Field>::type> &&
                                        !std::same_as<typename element<Field>::type, std::byte>;

template <class Enum>
constexpr std::string_view spelled_enumeration() {
    return __PRETTY_FUNCTION__;
}

/// What tells one enumeration from another; empty for none. (g++ does not take it for constant
/// under its sanitizer whether two addresses are the same, or one is null.)
template <class Field>
constexpr std::string_view identity_of_enumeration() {
    if constexpr (has_enumeration<Field>) {
        return spelled_enumeration<typename element<Field>::type>();
    } else {
        return {};
    }
}

template <class Field>
consteval const enum_description* enumeration_of() {
    if constexpr (has_enumeration<Field>) {
        return &description_of_enum<typename element<Field>::type>;
    } else {
        return nullptr;
    }
}

/// The value as it stands in the payload.
template <scalar_field Field>
[[gnu::always_inline]] constexpr auto to_wire(Field value) noexcept {
    using std::chrono::nanoseconds;
    if constexpr (is_duration<Field>) {
        return static_cast<std::int64_t>(std::chrono::duration_cast<nanoseconds>(value).count());
    } else if constexpr (is_time_point<Field>) {
        return to_wire(value.time_since_epoch());
    } else if constexpr (std::same_as<Field, std::nullptr_t>) {
        return std::uint64_t{0};
    } else if constexpr (pointer_field<Field>) {
        return std::uint64_t{reinterpret_cast<std::uintptr_t>(value)};
    } else {
        return value;
    }
}

/// Whether the bytes of the member are the bytes of the payload.
template <class Field>
inline constexpr bool same_bytes = address_field<Field> ||
                                   (scalar_field<typename element<Field>::type> &&
                                    !is_duration<typename element<Field>::type> &&
                                    !is_time_point<typename element<Field>::type> &&
                                    !std::same_as<typename element<Field>::type, std::nullptr_t> &&
                                    !(pointer_field<typename element<Field>::type> &&
                                      sizeof(void*) != 8));

// C arrays. Boost.PFR counts each element of one as a field, and then fails in a way that nobody
// understands, so they are found first: at position I a C array of numbers takes a braced pair of
// numbers, but no object of class type, which a std::array or a std::string would take.

struct any_value {
    template <class Target>
    operator Target() const noexcept {
        __builtin_unreachable();  // only looked at, never called
    }
};

struct any_number {
    template <class Target>
    requires std::is_arithmetic_v<Target>
    operator Target() const noexcept {
        __builtin_unreachable();  // only looked at, never called
    }
};

struct any_object {
    template <class Target>
    requires std::is_class_v<Target>
    operator Target() const noexcept {
        __builtin_unreachable();  // only looked at, never called
    }
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
        return false;  // refused for another reason, or without fields
    }
}

/// Refuses, in words, an event type that cannot be carried. Instantiated before anything else looks
/// at the type.
template <class Event>
struct check_event {
    static_assert(std::is_class_v<Event> && std::is_aggregate_v<Event>,
                  "eventlog: an event must be a plain struct: no constructors, no private members, "
                  "no virtual functions. Make it an aggregate.");
    static_assert(!contains_c_array<Event>(),
                  "eventlog: an event has a C array as field. Use std::array, or std::string_view "
                  "for text.");

    static constexpr bool usable = true;
};

template <class Field>
struct check_field {
    static_assert(!is_std_array<Field> || leaf_field<Field>,
                  "eventlog: a field is a std::array that cannot be carried. It needs 1 to 65520 "
                  "elements, each a number, bool, char, enumeration, duration or pointer.");
    static_assert(is_std_array<Field> || leaf_field<Field> || nested_field<Field>,
                  "eventlog: a field of this event has a type that cannot be carried. Use bool, "
                  "char, an integer of 8 to 64 bits, float, double, an enumeration, text "
                  "(std::string_view, std::string, const char*), std::span<const std::byte>, "
                  "std::array, std::optional, std::chrono durations and times, an object pointer, "
                  "eventlog::ipv4_address, ipv6_address, mac_address, or a plain struct of these.");
};

}  // namespace eventlog::detail
