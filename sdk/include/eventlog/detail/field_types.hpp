// SPDX-License-Identifier: MIT
//
// The C++ types that a field may have.
//
// Types of <chrono>, <optional>, <span>, <string> and <vector> are recognized by name and members,
// so that eventlog's headers need not include these headers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <eventlog/addresses.hpp>
#include <eventlog/detail/names.hpp>
#include <eventlog/metadata.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

/// Whether a type is spelled `std::NAME`, with any inline namespaces in between.
consteval bool is_spelled_in_std(const char* spelled, std::string_view name) {
    constexpr std::string_view scope = "std::";
    for (const char expected : scope) {
        if (*spelled++ != expected) {
            return false;
        }
    }
    const char* begin = spelled;
    for (; *spelled != '<' && *spelled != ';' && *spelled != ']'; ++spelled) {
        begin = *spelled == ':' ? spelled + 1 : begin;
    }
    return std::string_view(begin, static_cast<std::size_t>(spelled - begin)) == name;
}

template <class Type>
consteval bool is_named_in_std(std::string_view name) {
    return is_spelled_in_std(find_type(spelled_type<Type>()), name);
}

/// std::string, or a std::basic_string of the same characters with another allocator.
template <class Field>
concept string_field = std::is_class_v<Field> && requires(const Field& text) {
    typename Field::allocator_type;
    text.c_str();
} && std::is_same_v<typename Field::traits_type, std::char_traits<char>> &&
    is_named_in_std<Field>("basic_string");

template <class Field>
concept text_field = std::is_same_v<Field, std::string_view> || string_field<Field> ||
    std::is_same_v<Field, const char*> || std::is_same_v<Field, char*>;

template <class Field>
inline constexpr bool is_byte = std::is_same_v<std::remove_const_t<Field>, std::byte> ||
                                std::is_same_v<std::remove_const_t<Field>, std::uint8_t>;

/// std::span with dynamic extent, of elements that may be copied as bytes.
template <class Field>
concept dynamic_span = requires {
    typename Field::element_type;
    requires Field::extent == static_cast<std::size_t>(-1);
    requires !std::is_volatile_v<typename Field::element_type>;
}
&&is_named_in_std<Field>("span");

/// std::span of bytes with dynamic extent, or std::vector of bytes.
template <class Field>
concept bytes_field = std::is_class_v<Field> && requires(const Field& bytes) {
    typename Field::value_type;
    bytes.data();
    bytes.size();
} && is_byte<typename Field::value_type> &&
    (is_named_in_std<Field>("vector") || dynamic_span<Field>);

/// Integers without the character types.
template <class Field>
concept integer_field = std::is_integral_v<Field> && sizeof(Field) <= 8 &&
                        !std::is_same_v<Field, bool> && !std::is_same_v<Field, char> &&
                        !std::is_same_v<Field, wchar_t> && !std::is_same_v<Field, char8_t> &&
                        !std::is_same_v<Field, char16_t> && !std::is_same_v<Field, char32_t>;

template <class Field>
concept address_field = std::is_same_v<Field, ipv4_address> ||
    std::is_same_v<Field, ipv6_address> || std::is_same_v<Field, mac_address>;

/// Representations of a duration.
template <class Number>
concept time_count = std::is_floating_point_v<Number> ||
    (std::is_integral_v<Number> && sizeof(Number) <= 8);

/// std::chrono::duration
template <class Field>
concept duration_field = std::is_class_v<Field> && requires(const Field& time) {
    typename Field::rep;
    Field::period::num;
    Field::period::den;
    time.count();
} && time_count<typename Field::rep> && is_named_in_std<Field>("duration");

/// std::chrono::time_point
template <class Field>
concept clock_field = std::is_class_v<Field> && requires(const Field& time) {
    typename Field::clock;
    typename Field::duration;
    time.time_since_epoch();
} && is_named_in_std<Field>("time_point");

template <class Field>
concept realtime_field = clock_field<Field> &&
    is_named_in_std<typename Field::clock>("system_clock");

template <class Field>
concept monotonic_field = clock_field<Field> &&
    is_named_in_std<typename Field::clock>("steady_clock");

template <class Field>
concept time_point_field = (realtime_field<Field> ||
                            monotonic_field<Field>)&&duration_field<typename Field::duration>;

/// Characters of other encodings. A pointer to such a text must not be recorded as an address.
template <class Type>
concept wide_character = std::is_same_v<Type, wchar_t> || std::is_same_v<Type, char8_t> ||
    std::is_same_v<Type, char16_t> || std::is_same_v<Type, char32_t>;

template <class Field>
concept pointer_field = (std::is_pointer_v<Field> && !text_field<Field> &&
                         !wide_character<std::remove_cv_t<std::remove_pointer_t<Field>>> &&
                         !std::is_function_v<std::remove_pointer_t<Field>>) ||
                        std::is_same_v<Field, std::nullptr_t>;

/// Fields with a single value in the fixed part.
template <class Field>
concept scalar_field = integer_field<Field> || std::is_same_v<Field, bool> ||
    std::is_same_v<Field, std::byte> || std::is_same_v<Field, char> ||
    std::is_same_v<Field, float> || std::is_same_v<Field, double> || std::is_enum_v<Field> ||
    duration_field<Field> || time_point_field<Field> || pointer_field<Field>;

/// Elements of a sequence: scalars whose bytes in memory equal those in the payload, except bytes
/// and characters.
template <class Element>
concept sequence_element =
    scalar_field<Element> && !is_byte<Element> && !std::is_same_v<Element, char> &&
    !duration_field<Element> && !time_point_field<Element> && !pointer_field<Element>;

/// std::span with dynamic extent, or std::vector.
template <class Field>
concept sequence_field = std::is_class_v<Field> && requires(const Field& numbers) {
    typename Field::value_type;
    numbers.data();
    numbers.size();
} && sequence_element<typename Field::value_type> &&
    (is_named_in_std<Field>("vector") || dynamic_span<Field>);

/// Fields that are a u32 in the fixed part, with their bytes behind it.
template <class Field>
concept variable_field = text_field<Field> || bytes_field<Field> || sequence_field<Field>;

template <class Field>
struct element {
    using type = Field;
    static constexpr std::size_t count = 1;
};
template <sequence_field Field>
struct element<Field> {
    using type = typename Field::value_type;
    static constexpr std::size_t count = 0;
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

/// The element type of an array or sequence; the type itself for other fields.
template <class Field>
using element_of = typename element<Field>::type;

template <class Field>
inline constexpr bool is_std_array = false;
template <class Element, std::size_t Count>
inline constexpr bool is_std_array<std::array<Element, Count>> = true;

// Without element<>, whose specializations have constraints: with constraints inside of others,
// g++ 12 sometimes finds an array unsuitable.
template <class Field>
inline constexpr bool is_array_field = false;
template <class Element, std::size_t Count>
inline constexpr bool is_array_field<std::array<Element, Count>> =
    scalar_field<Element>&& Count != 0 && Count <= 0xfff0;

template <class Field>
concept array_field = is_array_field<Field>;

template <class Field>
concept value_field =
    scalar_field<Field> || array_field<Field> || address_field<Field> || variable_field<Field>;

/// std::optional of a type that may be a field itself.
template <class Field>
concept optional_field = std::is_class_v<Field> && requires(const Field& field) {
    typename Field::value_type;
    field.has_value();
    *field;
} && is_named_in_std<Field>("optional") && value_field<typename Field::value_type>;

/// Types that become one field of the payload.
template <class Field>
concept leaf_field = value_field<Field> || optional_field<Field>;

/// Types with an adapter, eventlog::convert.
template <class Field>
concept converted_field = __is_class(Field) && requires(const Field& field) {
    convert<Field>::to_field(field);
};

template <converted_field Field>
using conversion_result = decltype(convert<Field>::to_field(std::declval<const Field&>()));

/// Structs whose members become fields of the payload.
template <class Field>
concept nested_field =
    std::is_class_v<Field> && std::is_aggregate_v<Field> && !std::is_empty_v<Field> &&
    !leaf_field<Field> && !is_std_array<Field> && !converted_field<Field>;

template <class Field>
struct remove_optional {
    using type = Field;
};
template <optional_field Field>
struct remove_optional<Field> {
    using type = typename Field::value_type;
};

/// The type without std::optional.
template <class Field>
using remove_optional_t = typename remove_optional<Field>::type;

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
