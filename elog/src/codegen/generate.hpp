// SPDX-License-Identifier: MIT
//
// Generates source code from schemas: one file per language that registers a schema of the same
// bytes and emits its events.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "schema/schema_text.hpp"

namespace elog {

// Throw user_error, FILE:LINE:COLUMN: reason, for schemas that the language cannot express.
[[nodiscard]] std::string generate_c(const located_schema& source);
[[nodiscard]] std::string generate_cpp(const located_schema& source);
/// `file` is the header's name without .h: the kernel includes the header again by name.
[[nodiscard]] std::string generate_kernel_c(const located_schema& source, std::string_view file);
[[nodiscard]] std::string generate_python(const located_schema& source);
[[nodiscard]] std::string generate_rust(const located_schema& source);

/// Whether names of macros in C may be used.
enum class macro_policy { usable, avoided };

/// Chooses names that are unique in a scope of a language.
class unique_names {
  public:
    unique_names() = default;
    explicit unique_names(std::span<const std::string_view> reserved,
                          macro_policy how = macro_policy::usable)
        : avoids_macros_(how == macro_policy::avoided) {
        for (const std::string_view word : reserved) {
            taken_.emplace(word);
        }
    }
    void reserve(std::string word) { taken_.insert(std::move(word)); }

    /// Reserves and returns the name, with underscores appended until it is unique.
    [[nodiscard]] std::string make(std::string_view wanted);

  private:
    std::set<std::string, std::less<>> taken_;
    bool avoids_macros_ = false;
};

/// Collects source code, line by line.
class source_writer {
  public:
    /// Appends one line and its end.
    template <class... Arguments>
    void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        text_ += fmt::format(format, std::forward<Arguments>(arguments)...);
        text_ += '\n';
    }
    void line() { text_ += '\n'; }
    void append(std::string_view text) { text_ += text; }

    [[nodiscard]] std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

/// The bytes as hexadecimal numbers, several in a line, each line indented.
[[nodiscard]] std::string format_byte_list(std::span<const std::uint8_t> bytes, std::size_t indent);

/// Text for a comment: one line, without invisible characters and ends of comments.
[[nodiscard]] std::string comment_text(std::string_view text);

/// "A segment was lost. Logged when the timer expires.", or empty without both texts.
[[nodiscard]] std::string describe_item(const event_schema& event);

/// "bytes, in B: without headers", or empty for a field without unit and description.
[[nodiscard]] std::string describe_item(const field_schema& field);

/// Code with a list, broken behind commas if it is longer than a line.
[[nodiscard]] std::string wrap(std::string text);

[[nodiscard]] std::string upper_case(std::string_view name);
/// "order_placed" becomes "OrderPlaced".
[[nodiscard]] std::string camel_case(std::string_view name);

[[nodiscard]] bool is_variable(const field_schema& field) noexcept;
[[nodiscard]] bool is_optional(const field_schema& field) noexcept;
[[nodiscard]] std::size_t count_variable(const event_schema& event) noexcept;
/// Whether any event has texts or byte strings, or such that are cut.
[[nodiscard]] bool has_variable(const provider_schema& schema) noexcept;
[[nodiscard]] bool has_truncated_events(const provider_schema& schema) noexcept;

/// The type of all fields that hold the enumeration; nullopt if they differ or there are none.
[[nodiscard]] std::optional<eventlog::field_type> type_of_enumeration(
    const provider_schema& schema, std::size_t enumeration) noexcept;

/// Whether the enumeration can be an enum in C, whose values are int.
[[nodiscard]] bool fits_int(const enumeration_schema& enumeration) noexcept;

/// A number in source code, with the sign of its type and without suffix.
[[nodiscard]] std::string number_text(std::uint64_t value, eventlog::field_type type);

}  // namespace elog
