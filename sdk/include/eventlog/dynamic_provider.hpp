// SPDX-License-Identifier: MIT
//
// eventlog::dynamic_provider: events that are known at run time only, in C++. The definition is
// that of eventlog.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <eventlog/eventlog.h>
#include <eventlog/status.hpp>

namespace eventlog {

namespace detail {

template <class Element>
consteval eventlog_type run_time_type() {
    static_assert(std::is_arithmetic_v<Element> && sizeof(Element) <= 8,
                  "eventlog: a value of this type cannot be emitted. Numbers, bool, enumerations, "
                  "texts, spans of bytes, std::array and std::optional of these can.");
    if constexpr (std::is_same_v<Element, bool>) {
        return EVENTLOG_TYPE_BOOLEAN;
    } else if constexpr (std::is_same_v<Element, char>) {
        return EVENTLOG_TYPE_CHARACTER;
    } else if constexpr (std::is_floating_point_v<Element>) {
        return sizeof(Element) == 4 ? EVENTLOG_TYPE_FLOAT_32 : EVENTLOG_TYPE_FLOAT_64;
    } else {
        // Behind the one of 8 bits come those of 16, 32 and 64.
        constexpr int width = sizeof(Element) == 1   ? 0
                              : sizeof(Element) == 2 ? 1
                              : sizeof(Element) == 4 ? 2
                                                     : 3;
        return static_cast<eventlog_type>(
            (std::is_signed_v<Element> ? EVENTLOG_TYPE_SIGNED_8 : EVENTLOG_TYPE_UNSIGNED_8) +
            width);
    }
}

inline eventlog_value run_time_value(const eventlog_value& value) noexcept {
    return value;
}
inline eventlog_value run_time_value(std::nullopt_t /*none*/) noexcept {
    return eventlog_absent();
}
inline eventlog_value run_time_value(const char* text) noexcept {
    return eventlog_text(text);
}
inline eventlog_value run_time_value(std::span<const std::byte> bytes) noexcept {
    return eventlog_bytes(bytes.data(), bytes.size());
}
template <class Element, std::size_t Count>
eventlog_value run_time_value(const std::array<Element, Count>& elements) noexcept {
    return eventlog_array(run_time_type<Element>(), elements.data(), Count);
}

template <class Value>
requires(std::is_arithmetic_v<Value> || std::is_enum_v<Value>) eventlog_value
    run_time_value(Value value)
noexcept {
    if constexpr (std::is_enum_v<Value>) {
        return run_time_value(static_cast<std::underlying_type_t<Value>>(value));
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

/// std::string, std::string_view: not what a literal is, whose end is its NUL.
template <class Text>
requires(std::is_convertible_v<const Text&, std::string_view> &&
         !std::is_convertible_v<const Text&, const char*>) eventlog_value
    run_time_value(const Text& text)
noexcept {
    const std::string_view view = text;
    return eventlog_text_of(view.data(), view.size());
}

template <class Value>
eventlog_value run_time_value(const std::optional<Value>& value) noexcept {
    return value.has_value() ? run_time_value(*value) : eventlog_absent();
}

}  // namespace detail

/// A provider that is defined while the program runs, and withdrawn when this object goes:
///
///     eventlog::dynamic_provider shop(definition);
///     if (shop.error() != EVENTLOG_ERROR_NONE) { std::cerr << shop.error_text(); }
///     shop.emit(order_placed, order, customer, std::nullopt);
///
/// enabled and emit: any thread, any signal handler. The object must outlive what emits from it;
/// see eventlog_provider_unregister in eventlog.h.
class dynamic_provider {
  public:
    /// After a mistake in the definition nobody ever hears the provider, and error() tells.
    explicit dynamic_provider(const eventlog_definition& definition) noexcept
        : error_(eventlog_define_provider(&definition, &handle_, text_.data(), text_.size())) {}
    ~dynamic_provider() { eventlog_provider_unregister(handle_); }
    dynamic_provider(const dynamic_provider&) = delete;
    dynamic_provider& operator=(const dynamic_provider&) = delete;

    [[nodiscard]] eventlog_error error() const noexcept { return error_; }
    /// A sentence, empty if there is no error.
    [[nodiscard]] std::string_view error_text() const noexcept { return text_.data(); }

    /// What became of publishing the provider, and of its events. Not for signal handlers.
    [[nodiscard]] provider_status status() const noexcept { return detail::status_of(handle_); }

    /// Whether anyone listens to this event right now.
    [[nodiscard]] bool enabled(std::uint32_t event) const noexcept {
        return eventlog_enabled(handle_, event);
    }

    /// Emits an event: eventlog_emit_values, with its checks and errors. Values are numbers, bool,
    /// enumerations, texts, spans of std::byte, std::array, std::optional of these, std::nullopt.
    template <class... Values>
    eventlog_error emit(std::uint32_t event, const Values&... values) const noexcept {
        // One more, because an event may be without fields.
        const eventlog_value list[] = {detail::run_time_value(values)..., eventlog_absent()};
        return eventlog_emit_values(handle_, event, list, sizeof...(Values));
    }

    [[nodiscard]] eventlog_provider* handle() const noexcept { return handle_; }

  private:
    eventlog_provider* handle_ = nullptr;
    std::array<char, EVENTLOG_TEXT_SIZE> text_{};
    eventlog_error error_;
};

}  // namespace eventlog
