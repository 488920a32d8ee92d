// SPDX-License-Identifier: MIT
//
// Converts values of C++ types to eventlog_value, for events that are known at run time only.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <eventlog/detail/field_types.hpp>
#include <eventlog/detail/push_emit.h>
#include <eventlog/eventlog.h>

namespace eventlog {
inline namespace v0 {
namespace detail {

template <class Element>
consteval eventlog_type dynamic_type() {
    constexpr bool is_enum = std::is_enum_v<Element>;
    static_assert(is_enum || (std::is_arithmetic_v<Element> && sizeof(Element) <= 8),
                  "eventlog: a value of this type cannot be emitted. Numbers, bool, enumerations, "
                  "texts, spans of bytes, std::array, std::span and std::vector of numbers, and "
                  "std::optional of these can.");
    if constexpr (is_enum) {
        return dynamic_type<std::underlying_type_t<Element>>();
    } else if constexpr (std::is_same_v<Element, bool>) {
        return EVENTLOG_TYPE_BOOLEAN;
    } else if constexpr (std::is_same_v<Element, char>) {
        return EVENTLOG_TYPE_CHARACTER;
    } else if constexpr (std::is_floating_point_v<Element>) {
        return sizeof(Element) == 4 ? EVENTLOG_TYPE_FLOAT_32 : EVENTLOG_TYPE_FLOAT_64;
    } else {
        // The types of 16, 32 and 64 bits follow that of 8 bits.
        constexpr int width = sizeof(Element) == 1   ? 0
                              : sizeof(Element) == 2 ? 1
                              : sizeof(Element) == 4 ? 2
                                                     : 3;
        return static_cast<eventlog_type>(
            (std::is_signed_v<Element> ? EVENTLOG_TYPE_SIGNED_8 : EVENTLOG_TYPE_UNSIGNED_8) +
            width);
    }
}

inline eventlog_value dynamic_value(const eventlog_value& value) noexcept {
    return value;
}
inline eventlog_value dynamic_value(std::nullopt_t /*none*/) noexcept {
    return eventlog_absent();
}
inline eventlog_value dynamic_value(const char* text) noexcept {
    return eventlog_text(text);
}
inline eventlog_value dynamic_value(std::span<const std::byte> bytes) noexcept {
    return eventlog_bytes(bytes.data(), bytes.size());
}
inline eventlog_value dynamic_value(std::span<const std::uint8_t> bytes) noexcept {
    return eventlog_bytes(bytes.data(), bytes.size());
}
template <class Element, std::size_t Count>
eventlog_value dynamic_value(const std::array<Element, Count>& elements) noexcept {
    return eventlog_array(dynamic_type<Element>(), elements.data(), Count);
}
template <sequence_field Numbers>
eventlog_value dynamic_value(const Numbers& numbers) noexcept {
    return eventlog_array(dynamic_type<typename Numbers::value_type>(), numbers.data(),
                          numbers.size());
}

template <class Value>
requires(std::is_arithmetic_v<Value> || std::is_enum_v<Value>) eventlog_value
    dynamic_value(Value value)
noexcept {
    if constexpr (std::is_enum_v<Value>) {
        return dynamic_value(static_cast<std::underlying_type_t<Value>>(value));
    } else if constexpr (std::is_same_v<Value, bool>) {
        return eventlog_boolean(value);
    } else if constexpr (std::is_floating_point_v<Value>) {
        static_assert(sizeof(Value) <= 8, "eventlog: a long double is wider than any field.");
        return eventlog_real(value);
    } else if constexpr (std::is_signed_v<Value>) {
        return eventlog_signed(value);
    } else {
        return eventlog_unsigned(value);
    }
}

/// std::string and std::string_view; not literals, which end with a NUL.
template <class Text>
requires(std::is_convertible_v<const Text&, std::string_view> &&
         !std::is_convertible_v<const Text&, const char*>) eventlog_value
    dynamic_value(const Text& text)
noexcept {
    const std::string_view view = text;
    return eventlog_text_of(view.data(), view.size());
}

/// All remaining types, which are rejected with a message.
template <class Value>
requires(!std::is_arithmetic_v<Value> && !std::is_enum_v<Value> && !sequence_field<Value> &&
         !std::is_convertible_v<const Value&, std::string_view> &&
         !std::is_convertible_v<const Value&, const char*> &&
         !std::is_convertible_v<const Value&, std::span<const std::byte>> &&
         !std::is_convertible_v<const Value&, std::span<const std::uint8_t>>) eventlog_value
    dynamic_value(const Value& /*refused*/)
noexcept {
    static_cast<void>(dynamic_type<Value>());
    return eventlog_absent();
}

template <class Value>
eventlog_value dynamic_value(const std::optional<Value>& value) noexcept {
    return value.has_value() ? dynamic_value(*value) : eventlog_absent();
}

template <class Type>
inline constexpr bool is_tuple = false;
template <class... Values>
inline constexpr bool is_tuple<std::tuple<Values...>> = true;

/// Calls `make` and passes the values to `emit`.
template <class Maker, class Emit>
eventlog_error emit_tuple(Maker&& make, Emit emit) noexcept(std::is_nothrow_invocable_v<Maker>) {
    using made = std::remove_cvref_t<std::invoke_result_t<Maker>>;
    static_assert(is_tuple<made>, "eventlog: a callable must return the values of the event in a "
                                  "std::tuple. Return std::tuple(first, second).");
    const made values = std::forward<Maker>(make)();
    return std::apply(emit, values);
}

}  // namespace detail
}  // namespace v0
}  // namespace eventlog

#include <eventlog/detail/pop_emit.h>
