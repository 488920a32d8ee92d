// SPDX-License-Identifier: MIT
//
// eventlog::log: free text as events, for messages that deserve no event of their own.
//
//     eventlog::log(eventlog::level::warn, "retry {} of {}", attempt, host);
//     eventlog::logger<"payments">::info("accepted {} orders", count);
//
// The events of a logger are `error`, `warn`, `info`, `verbose` and `trace`, with the fields
// `message`, `file` and `line`. Without a listener a call is one load and a branch; the text is
// formatted only for a listener, into a buffer on the stack, without allocation. The number of {}
// is compared with the number of arguments at compile time. {{ and }} stand for braces.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include <eventlog/detail/field_types.hpp>
#include <eventlog/detail/push_emit.h>
#include <eventlog/detail/var_fields.hpp>
#include <eventlog/provider.hpp>

namespace eventlog {
inline namespace v0 {

/// The maximum bytes of a message. A longer one ends in "...".
inline constexpr std::size_t log_message_max = 1024;

namespace detail {

struct log_error {
    static constexpr event_info info{.level = level::error, .name = "error", .line = 0};
    std::string_view message;
    std::string_view file;
    std::uint32_t line;
};
struct log_warn {
    static constexpr event_info info{.level = level::warn, .name = "warn", .line = 0};
    std::string_view message;
    std::string_view file;
    std::uint32_t line;
};
struct log_info {
    static constexpr event_info info{.level = level::info, .name = "info", .line = 0};
    std::string_view message;
    std::string_view file;
    std::uint32_t line;
};
struct log_verbose {
    static constexpr event_info info{.level = level::verbose, .name = "verbose", .line = 0};
    std::string_view message;
    std::string_view file;
    std::uint32_t line;
};
struct log_trace {
    static constexpr event_info info{.level = level::trace, .name = "trace", .line = 0};
    std::string_view message;
    std::string_view file;
    std::uint32_t line;
};

template <fixed_string Name>
using log_provider = provider<Name, log_error, log_warn, log_info, log_verbose, log_trace>;

/// Not constexpr, so that a call from a consteval function is an error that shows the name.
void number_of_braces_differs_from_number_of_arguments();
void brace_without_its_pair();
void text_contains_nul();

/// Checks a text with {} for each of `count` arguments.
consteval void check_log_text(const char* text, std::size_t count) {
    std::size_t found = 0;
    for (const char* at = text; *at != 0; ++at) {
        if (*at != '{' && *at != '}') {
            continue;
        }
        if (at[1] == *at) {
            ++at;
        } else if (*at == '{' && at[1] == '}') {
            ++found;
            ++at;
        } else {
            brace_without_its_pair();
        }
    }
    if (found != count) {
        number_of_braces_differs_from_number_of_arguments();
    }
}

/// A text with its call site.
template <class... Arguments>
struct log_text {
    template <std::size_t Size>
    consteval log_text(const char (&literal)[Size], const char* path = __builtin_FILE(),
                       std::uint32_t number = __builtin_LINE())
        : text(literal), file(path), line(number) {
        check_log_text(literal, sizeof...(Arguments));
        if (__builtin_strlen(literal) != Size - 1) {
            text_contains_nul();
        }
    }

    const char* text;
    const char* file;
    std::uint32_t line;
};

/// Formats into a buffer of fixed size, of which only written bytes are read.
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init)
class log_buffer {
  public:
    void append(std::string_view text) noexcept {
        const std::size_t room = log_message_max - size_;
        const std::size_t copied = text.size() < room ? text.size() : room;
        std::memcpy(text_ + size_, text.data(), copied);
        size_ += copied;
        is_cut_ = is_cut_ || copied < text.size();
    }

    /// Not by std::to_chars, whose table of digits g++ makes a symbol that is unique in the
    /// process: a dlopen'ed object that logs could never be unloaded.
    template <class Number>
    void append_integer(Number number) noexcept {
        auto rest = static_cast<std::uint64_t>(number);
        bool is_negative = false;
        if constexpr (std::is_signed_v<Number>) {
            is_negative = number < 0;
            rest = is_negative ? 0 - rest : rest;
        }
        char digits[20];
        std::size_t begin = sizeof digits;
        do {
            digits[--begin] = static_cast<char>('0' + rest % 10);
            rest /= 10;
        } while (rest != 0);
        if (is_negative) {
            digits[--begin] = '-';
        }
        append({digits + begin, sizeof digits - begin});
    }

    template <class Argument>
    void append_value(const Argument& argument) noexcept {
        using value = std::remove_volatile_t<Argument>;
        if constexpr (std::is_same_v<value, bool>) {
            append(argument ? "true" : "false");
        } else if constexpr (std::is_same_v<value, char>) {
            const char single = argument;
            append({&single, 1});
        } else if constexpr (std::is_enum_v<value>) {
            // Promoted: an enumeration of bool or of characters is a number, too.
            append_value(+static_cast<std::underlying_type_t<value>>(argument));
        } else if constexpr (integer_field<value>) {
            append_integer(argument);
        } else if constexpr (std::is_floating_point_v<value>) {
            char digits[128];
            const auto written = std::to_chars(digits, digits + sizeof digits, value{argument});
            append({digits, static_cast<std::size_t>(written.ptr - digits)});
        } else if constexpr (std::is_same_v<value, std::nullptr_t>) {
            append("(null)");
        } else if constexpr (std::is_pointer_v<value> &&
                             std::is_convertible_v<value, const char*>) {
            append(argument == nullptr ? std::string_view("(null)") : std::string_view(argument));
        } else {
            static_assert(std::is_convertible_v<const Argument&, std::string_view>,
                          "eventlog: a log message takes numbers, bool, char, enumerations and "
                          "text. Convert this argument, or declare an event with a field for it.");
            append(std::string_view(argument));
        }
    }

    /// Appends the text up to the next {}, and returns the text behind it.
    const char* append_literal(const char* text) noexcept {
        for (; *text != 0; ++text) {
            const bool is_brace = *text == '{' || *text == '}';
            if (is_brace && text[1] != *text) {
                return text + 2;
            }
            append({text, 1});
            text += is_brace ? 1 : 0;
        }
        return text;
    }

    [[nodiscard]] std::string_view message() noexcept {
        constexpr std::string_view mark = "...";
        if (is_cut_) {
            // Whole characters of UTF-8 in front of the mark. The function counts a NUL behind
            // them.
            const std::size_t end =
                whole_character_size(text_, log_message_max - mark.size() + 1) - 1;
            std::memcpy(text_ + end, mark.data(), mark.size());
            size_ = end + mark.size();
            is_cut_ = false;
        }
        return {text_, size_};
    }

  private:
    char text_[log_message_max];
    std::size_t size_ = 0;
    bool is_cut_ = false;
};

/// Not inlined: a call site is the test for a listener and a call.
template <class Provider, class Event, class... Arguments>
[[gnu::noinline, gnu::cold, gnu::visibility("hidden")]] void emit_log(
    const char* text, const char* file, std::uint32_t line,
    const Arguments&... arguments) noexcept {
    log_buffer buffer;
    ((text = buffer.append_literal(text), buffer.append_value(arguments)), ...);
    buffer.append_literal(text);
    Provider::emit(Event{buffer.message(), file, line});
}

}  // namespace detail

/// Log messages of a provider of this name. All functions: any thread, any signal handler, any
/// forked child, as provider::emit.
template <detail::fixed_string Name>
class logger {
    template <class... Arguments>
    using text = detail::log_text<std::type_identity_t<Arguments>...>;

    template <class Event, class... Arguments>
    [[gnu::always_inline]] static void log(const text<Arguments...>& format,
                                           const Arguments&... arguments) noexcept {
        if (provider::template enabled<Event>()) [[unlikely]] {
            detail::emit_log<provider, Event>(format.text, format.file, format.line, arguments...);
        }
    }

  public:
    using provider = detail::log_provider<Name>;

    template <class... Arguments>
    [[gnu::always_inline]] static void error(text<Arguments...> format,
                                             const Arguments&... arguments) noexcept {
        log<detail::log_error, Arguments...>(format, arguments...);
    }
    template <class... Arguments>
    [[gnu::always_inline]] static void warn(text<Arguments...> format,
                                            const Arguments&... arguments) noexcept {
        log<detail::log_warn, Arguments...>(format, arguments...);
    }
    template <class... Arguments>
    [[gnu::always_inline]] static void info(text<Arguments...> format,
                                            const Arguments&... arguments) noexcept {
        log<detail::log_info, Arguments...>(format, arguments...);
    }
    template <class... Arguments>
    [[gnu::always_inline]] static void verbose(text<Arguments...> format,
                                               const Arguments&... arguments) noexcept {
        log<detail::log_verbose, Arguments...>(format, arguments...);
    }
    template <class... Arguments>
    [[gnu::always_inline]] static void trace(text<Arguments...> format,
                                             const Arguments&... arguments) noexcept {
        log<detail::log_trace, Arguments...>(format, arguments...);
    }
};

/// Emits a message of the provider `log`. An unknown level counts as trace.
template <class... Arguments>
[[gnu::always_inline]] inline void log(level severity,
                                       detail::log_text<std::type_identity_t<Arguments>...> format,
                                       const Arguments&... arguments) noexcept {
    using to = logger<"log">;
    switch (severity) {
        case level::error:
            return to::error(format, arguments...);
        case level::warn:
            return to::warn(format, arguments...);
        case level::info:
            return to::info(format, arguments...);
        case level::verbose:
            return to::verbose(format, arguments...);
        case level::trace:
            break;
    }
    to::trace(format, arguments...);
}

}  // namespace v0
}  // namespace eventlog

#include <eventlog/detail/pop_emit.h>
