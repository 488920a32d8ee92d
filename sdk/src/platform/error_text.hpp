// SPDX-License-Identifier: MIT
//
// A message for the user: what went wrong and what to do about it.
//
// It is stored as a format and its values, because an emit fails, too: making a sentence takes much
// stack, and describing an errno allocates and translates. set() is async-signal-safe; text() makes
// the sentence, for a status or for elog.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace eventlog::core {

/// A finished message, truncated to the buffer.
struct error_sentence {
    std::array<char, 256> characters{};

    [[nodiscard]] const char* c_str() const noexcept { return characters.data(); }
};

/// An errno, described for the user.
struct system_error {
    int code = 0;
};

/// Not defined: a call makes a format with other values an error at compile time.
void format_has_another_number_of_values();

class error_text {
  public:
    /// A literal with %s, %u or %zu for each value; its type alone decides how it is shown.
    template <std::size_t Values>
    struct checked_format {
        const char* text;

        consteval checked_format(const char* format) : text(format) {
            std::size_t found = 0;
            for (const char* at = format; *at != '\0'; ++at) {
                found += *at == '%' ? 1 : 0;
            }
            if (found != Values) {
                format_has_another_number_of_values();
            }
        }
    };

    /// Replaces the message. It refers to texts, which must live as long as it is used.
    template <class... Values>
    void set(checked_format<sizeof...(Values)> format, Values... values) noexcept {
        static_assert(sizeof...(Values) <= values_max);
        format_ = format.text;
        [[maybe_unused]] std::size_t next = 0;
        (store(next++, values), ...);
    }

    /// The sentence; empty if nothing was set.
    [[nodiscard]] error_sentence text() const noexcept;

    static constexpr std::size_t values_max = 3;
    /// Copies of the texts, as far as a sentence has room.
    using text_copies = std::array<error_sentence, values_max>;
    /// Replaces the texts by copies, so that the sentence can be made after the lock that keeps
    /// them was released.
    void copy_texts(text_copies& copies) noexcept;

  private:
    enum class kind : std::uint8_t { text, number, error };
    union value {
        const char* text;
        std::uint64_t number;
    };

    constexpr void store(std::size_t index, const char* text) noexcept {
        kinds_[index] = kind::text;
        values_[index].text = text;
    }
    constexpr void store(std::size_t index, system_error error) noexcept {
        kinds_[index] = kind::error;
        values_[index].number = static_cast<unsigned>(error.code);
    }
    constexpr void store(std::size_t index, std::unsigned_integral auto number) noexcept {
        kinds_[index] = kind::number;
        values_[index].number = number;
    }

    const char* format_ = "";
    std::array<value, values_max> values_{};
    std::array<kind, values_max> kinds_{};
};

/// Collects a sentence from parts. Not for an emit.
class sentence_writer {
  public:
    void put(std::string_view part) noexcept;
    void put(std::uint64_t number) noexcept;

    [[nodiscard]] const error_sentence& sentence() const noexcept { return sentence_; }

  private:
    error_sentence sentence_;
    std::size_t used_ = 0;
};

}  // namespace eventlog::core
