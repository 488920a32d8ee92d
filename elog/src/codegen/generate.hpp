// SPDX-License-Identifier: MIT
//
// Programs from schemas: for each language a file that a person could have written, which emits
// exactly what the schema says and registers a schema of the same bytes.
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

// What the language cannot say is refused: failure, FILE:LINE:COLUMN: reason.
[[nodiscard]] std::string generate_c(const located_schema& source);
[[nodiscard]] std::string generate_cpp(const located_schema& source);
/// `file` is what the header will be called, without .h: the kernel includes it once more by name.
[[nodiscard]] std::string generate_kernel_c(const located_schema& source, std::string_view file);
[[nodiscard]] std::string generate_python(const located_schema& source);
[[nodiscard]] std::string generate_rust(const located_schema& source);

/// Whether names that are macros in C can be used.
enum class macro_policy { usable, avoided };

/// Names that are free in a scope of a language.
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

    /// The name itself, or with as many _ behind it as make it one that nobody has.
    [[nodiscard]] std::string make(std::string_view wanted);

  private:
    std::set<std::string, std::less<>> taken_;
    bool avoids_macros_ = false;
};

/// Text being written, a line at a time.
class source_writer {
  public:
    /// Nothing or one line, with its end.
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

/// The schema's bytes, sixteen in a line, each line behind that many spaces.
[[nodiscard]] std::string format_byte_list(std::span<const std::uint8_t> bytes, std::size_t indent);

/// What a comment says: on one line, nothing that could end the comment or hide.
[[nodiscard]] std::string comment_text(std::string_view text);

/// "A segment was lost. Logged when the timer expires." or nothing.
[[nodiscard]] std::string describe_item(const event_schema& event);

/// "bytes, in B: without headers", for fields about which there is something to say; else nothing.
[[nodiscard]] std::string describe_item(const field_schema& field);

/// Code that is a list, broken behind commas where it is too long for a line.
[[nodiscard]] std::string wrap(std::string text);

[[nodiscard]] std::string upper_case(std::string_view name);
/// order_placed: OrderPlaced
[[nodiscard]] std::string camel_case(std::string_view name);

[[nodiscard]] bool is_variable(const field_schema& field) noexcept;
[[nodiscard]] bool is_optional(const field_schema& field) noexcept;
[[nodiscard]] std::size_t count_variable(const event_schema& event) noexcept;
/// Whether any event has its texts cut, or any texts at all.
[[nodiscard]] bool has_variable(const provider_schema& schema) noexcept;
[[nodiscard]] bool has_truncated_events(const provider_schema& schema) noexcept;

/// The one type of all fields that hold the enumeration, if there is one.
[[nodiscard]] std::optional<eventlog::field_type> type_of_enumeration(
    const provider_schema& schema, std::size_t enumeration) noexcept;

/// Whose values a C compiler takes for those of an enum.
[[nodiscard]] bool fits_int(const enumeration_schema& enumeration) noexcept;

/// A number as it stands in source code, with its sign if the type has one; no suffix.
[[nodiscard]] std::string number_text(std::uint64_t value, eventlog::field_type type);

}  // namespace elog
