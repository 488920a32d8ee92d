// SPDX-License-Identifier: MIT
//
// Properties of a field that depend on its type only. They are instantiated once for each type,
// whatever the number of events with such a field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <eventlog/detail/enum_names.hpp>
#include <eventlog/detail/field_types.hpp>
#include <eventlog/detail/values.hpp>
#include <eventlog/schema_format.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

/// How a field is passed from the call site to the encoder.
enum class pass_mode : std::uint8_t {
    nested,            // not passed itself, only its members
    by_value,          // in words, up to 16 bytes
    var_field,         // by address and size: texts, byte strings and sequences
    array_by_address,  // by address: arrays over 16 bytes
};

struct field_kind {
    field_type type{};
    format shown{};
    pass_mode mode = pass_mode::nested;
    bool optional = false;
    bool is_c_string = false;
    bool has_same_bytes = false;  // in the event and in the payload
    std::size_t count = 1;        // 0: a sequence
    const enum_description* enumeration = nullptr;
    bool is_enumeration = false;
    const char* enumeration_identity = "";                            // distinguishes enumerations
    void (*put)(unsigned char* target, const void* field) = nullptr;  // of array_by_address
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

/// `Field` is a scalar, a text or a byte string.
template <class Field>
consteval field_type type_of() {
    if constexpr (text_field<Field>) {
        return field_type::text;
    } else if constexpr (bytes_field<Field>) {
        return field_type::bytes;
    } else if constexpr (std::is_same_v<Field, bool>) {
        return field_type::boolean;
    } else if constexpr (std::is_same_v<Field, char>) {
        return field_type::character;
    } else if constexpr (std::is_same_v<Field, float>) {
        return field_type::float_32;
    } else if constexpr (std::is_same_v<Field, double>) {
        return field_type::float_64;
    } else if constexpr (std::is_same_v<Field, std::byte>) {
        return field_type::unsigned_8;
    } else if constexpr (duration_field<Field> || time_point_field<Field>) {
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
    using single = element_of<Field>;
    if constexpr (std::is_same_v<Field, mac_address>) {
        return format::mac_address;
    } else if constexpr (address_field<Field>) {
        return format::ip_address;
    } else if constexpr (duration_field<single>) {
        return format::duration;
    } else if constexpr (time_point_field<single>) {
        return realtime_field<single> ? format::realtime : format::monotonic;
    } else if constexpr (pointer_field<single> || std::is_same_v<single, std::byte>) {
        return format::hexadecimal;
    } else if constexpr (array_field<Field> && std::is_same_v<single, char>) {
        return format::characters;
    } else {
        return format::plain;
    }
}

// Enumerations are compared by name: under its sanitizer, g++ does not accept comparisons of
// addresses, or with null, as constants.
template <class Enum>
consteval const char* identity_of_enumeration() {
    return __PRETTY_FUNCTION__;
}

template <class Field>
consteval pass_mode pass_mode_of() {
    if constexpr (variable_field<Field>) {
        return pass_mode::var_field;
    } else if constexpr (scalar_field<Field> || (same_bytes<Field> && sizeof(Field) <= 16)) {
        return pass_mode::by_value;
    } else {
        return pass_mode::array_by_address;
    }
}

/// Types that are supported, or rejected elsewhere: arrays by check_field, C arrays where the
/// struct is known.
template <class Field>
concept known_field = is_std_array<Field> || leaf_field<Field> || nested_field<Field> ||
    std::is_array_v<Field> || converted_field<Field>;

template <class Field>
concept unsupported_optional =
    !known_field<Field> && std::is_class_v<Field> && is_named_in_std<Field>("optional");

template <class Field>
concept unsupported_container = !known_field<Field> && requires(const Field& field) {
    typename Field::value_type;
    field.begin();
    field.end();
    requires !wide_character<std::remove_cv_t<typename Field::value_type>>;
};

/// Whether eventlog::convert is specialized for a type.
template <class Field>
concept has_adapter = requires {
    sizeof(convert<Field>);
};

/// Rejects a member of an unsupported type with a message.
template <class Field>
struct check_field {
    static_assert(std::is_arithmetic_v<Field> || converted_field<Field> || !has_adapter<Field>,
                  "eventlog: the eventlog::convert<...> of a field is not usable. The type must be "
                  "a class, and to_field() a static member function that takes a const reference "
                  "to it.");
    static_assert(!is_std_array<Field> || leaf_field<Field>,
                  "eventlog: a field is a std::array that is not supported. It needs 1 to 65520 "
                  "elements, each a number, bool, char, enumeration, duration or pointer.");
    static_assert(!unsupported_optional<Field>,
                  "eventlog: a field is a std::optional of a type that cannot be optional, such as "
                  "a struct. Make the members of the struct optional instead.");
    static_assert(!unsupported_container<Field>,
                  "eventlog: a field is a container that is not supported. Emit an event for each "
                  "element, or use text, std::span<const std::byte>, or a std::array, std::vector "
                  "or std::span of numbers.");
    static_assert(
        known_field<Field> || unsupported_optional<Field> || unsupported_container<Field>,
        "eventlog: a field of this event has a type that is not supported. Use bool, char, an "
        "integer of 8 to 64 bits, float, double, an enumeration, text (std::string_view, "
        "std::string, const char*), std::span<const std::byte>, std::array, std::vector and "
        "std::span of numbers, std::optional, "
        "std::chrono durations that count in up to 64 bits or in floating point and such times of "
        "system_clock or steady_clock, an object pointer, eventlog::ipv4_address, ipv6_address, "
        "mac_address, a plain struct of these, or a type with eventlog::convert.");
};

/// Rejects an unsuitable result of eventlog::convert.
template <converted_field Field>
struct check_conversion {
    using result = conversion_result<Field>;
    using held = std::remove_cvref_t<result>;
    static_assert(value_field<held>,
                  "eventlog: eventlog::convert<...>::to_field() returns a type that is not a "
                  "field. Return a number, an enumeration, text, bytes or a std::array.");
    static_assert(!value_field<held> || std::is_reference_v<result> ||
                      (!is_named_in_std<held>("basic_string") && !is_named_in_std<held>("vector") &&
                       pass_mode_of<held>() != pass_mode::array_by_address),
                  "eventlog: eventlog::convert<...>::to_field() returns a std::string, std::vector "
                  "or large array by value, which does not live until the event has been emitted. "
                  "Return a std::string_view, std::span or a reference.");
};

/// The properties of a member of this type, which has no adapter.
template <class Field>
consteval field_kind make_own_kind() {
    using held = remove_optional_t<Field>;
    using single = element_of<held>;
    field_kind kind;
    if constexpr (leaf_field<Field>) {
        kind.type = type_of<single>();
        kind.shown = format_of<held>();
        kind.mode = pass_mode_of<held>();
        kind.optional = optional_field<Field>;
        kind.is_c_string = text_field<held> && std::is_pointer_v<held>;
        kind.has_same_bytes = !optional_field<Field> && !variable_field<held> && same_bytes<held>;
        kind.count = element<held>::count;
        if constexpr (std::is_enum_v<single> && !std::is_same_v<single, std::byte>) {
            kind.enumeration = &description_of_enum<single>;
            kind.is_enumeration = true;
            kind.enumeration_identity = identity_of_enumeration<single>();
        }
        if constexpr (pass_mode_of<held>() == pass_mode::array_by_address) {
            kind.put = put_array_by_address<Field>;
        }
    }
    return kind;
}

/// The properties of a member of this type.
template <class Field>
consteval field_kind make_kind() {
    static_cast<void>(check_field<Field>{});
    if constexpr (converted_field<Field>) {
        static_cast<void>(check_conversion<Field>{});
        field_kind kind = make_own_kind<std::remove_cvref_t<conversion_result<Field>>>();
        kind.has_same_bytes = false;
        return kind;
    } else {
        return make_own_kind<Field>();
    }
}

template <class Field>
[[gnu::visibility("hidden")]] inline constexpr field_kind kind_of = make_kind<Field>();

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
