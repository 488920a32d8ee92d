// SPDX-License-Identifier: MIT
//
// The value of one field in one record.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include <elog/api.hpp>

namespace elog {

namespace library {
struct field_info;
}

/// Whether there is a value, or why not.
enum class value_state : std::uint8_t {
    present,
    no_field,  // the event has no such field
    absent,    // the field is optional, and this record has no value for it
    null,      // the text was a null pointer
    damaged,   // the record's bytes do not fit its schema
};

/// The types of a value. std::monostate: there is no value, or it is an array, whose elements have
/// values.
using any_value = std::variant<std::monostate, bool, char, std::int64_t, std::uint64_t, double,
                               std::string_view, std::span<const std::byte>>;

/// The types of value::as: numbers, enumerations, std::string_view, std::span<const std::byte>.
template <class T>
concept value_type = std::is_arithmetic_v<T> || std::is_enum_v<T> ||
    std::same_as<T, std::string_view> || std::same_as<T, std::span<const std::byte>>;

/// A view, valid as long as its record. Only text() allocates.
class ELOG_API value {
  public:
    value() noexcept = default;
    /// Internal to libelog: one element, or the whole field.
    value(const library::field_info* field, std::span<const std::uint8_t> payload,
          std::uint32_t element = whole) noexcept
        : field_(field), payload_(payload), element_(element) {}

    [[nodiscard]] value_state state() const noexcept;
    [[nodiscard]] any_value get() const noexcept;

    /// The value as a T, if the conversion loses nothing: nothing for an integer that does not fit,
    /// for a text as a number, and for a missing value. Integers and enumerations convert by
    /// number, bool to 0 or 1, char to its code. Floating point accepts every number, rounded,
    /// except those beyond the range of float.
    template <value_type T>
    [[nodiscard]] std::optional<T> as() const noexcept;
    /// Rejects other types.
    template <class T>
    [[nodiscard]] std::optional<T> as() const noexcept {
        static_assert(value_type<T>,
                      "libelog: a value cannot be converted to this type. Use a number, an "
                      "enumeration, std::string_view or std::span<const std::byte>, or call "
                      "text().");
        return std::nullopt;
    }

    /// The number of elements of an array or sequence, 0 if that has no value; 1 for other fields.
    [[nodiscard]] std::size_t size() const noexcept;
    /// One element; `damaged` beyond the end.
    [[nodiscard]] value operator[](std::size_t element) const noexcept;

    /// The name of the value in its enumeration; empty if it has none.
    [[nodiscard]] std::string_view name() const noexcept;

    /// The text that elog print shows: with unit, format and enumeration; the same for one element.
    [[nodiscard]] std::string text() const;

  private:
    static constexpr std::uint32_t whole = std::numeric_limits<std::uint32_t>::max();

    [[nodiscard]] std::optional<std::uint32_t> chosen() const noexcept {
        return element_ == whole ? std::nullopt : std::optional(element_);
    }

    const library::field_info* field_ = nullptr;
    std::span<const std::uint8_t> payload_{};
    std::uint32_t element_ = whole;
};

namespace library {

template <class T, class Number>
[[nodiscard]] constexpr std::optional<T> converted(Number number) noexcept {
    if constexpr (std::same_as<T, Number>) {
        return number;
    } else if constexpr (std::is_same_v<T, float> && std::is_floating_point_v<Number>) {
        constexpr Number largest = std::numeric_limits<float>::max();
        constexpr Number infinity = std::numeric_limits<Number>::infinity();
        const bool is_too_large =
            (number > largest && number != infinity) || (number < -largest && number != -infinity);
        return is_too_large ? std::nullopt : std::optional(static_cast<float>(number));
    } else if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(number);
    } else if constexpr (std::is_floating_point_v<Number>) {
        return std::nullopt;
    } else if constexpr (std::same_as<T, bool>) {
        return number == 0 || number == 1 ? std::optional(number == 1) : std::nullopt;
    } else {
        const bool fits = number < 0
                              ? std::is_signed_v<T> &&
                                    static_cast<std::int64_t>(number) >=
                                        static_cast<std::int64_t>(std::numeric_limits<T>::min())
                              : static_cast<std::uint64_t>(number) <=
                                    static_cast<std::uint64_t>(std::numeric_limits<T>::max());
        return fits ? std::optional(static_cast<T>(number)) : std::nullopt;
    }
}

}  // namespace library

template <value_type T>
std::optional<T> value::as() const noexcept {
    if constexpr (std::is_enum_v<T>) {
        const auto number = as<std::underlying_type_t<T>>();
        return number ? std::optional(static_cast<T>(*number)) : std::nullopt;
    } else {
        const any_value held = get();
        if constexpr (!std::is_arithmetic_v<T>) {
            const T* found = std::get_if<T>(&held);
            return found != nullptr ? std::optional(*found) : std::nullopt;
        } else {
            if (const auto* number = std::get_if<std::int64_t>(&held)) {
                return library::converted<T>(*number);
            }
            if (const auto* number = std::get_if<std::uint64_t>(&held)) {
                return library::converted<T>(*number);
            }
            if (const auto* number = std::get_if<double>(&held)) {
                return library::converted<T>(*number);
            }
            if (const auto* truth = std::get_if<bool>(&held)) {
                return library::converted<T>(std::uint64_t{*truth});
            }
            if (const auto* character = std::get_if<char>(&held)) {
                if constexpr (std::same_as<T, char>) {
                    return *character;  // may be signed: its code does not always fit
                } else {
                    return library::converted<T>(
                        std::uint64_t{static_cast<unsigned char>(*character)});
                }
            }
            return std::nullopt;
        }
    }
}

}  // namespace elog
