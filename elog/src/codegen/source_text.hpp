// SPDX-License-Identifier: MIT
//
// Parts of source code that the generators share: names, comments, lists, numbers, types.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "schema/provider_schema.hpp"

namespace elog {

/// Whether names of macros in C may be used.
enum class macro_policy { usable, avoided };

/// Whether a list has the word. In a list each word is between blanks.
[[nodiscard]] bool contains_word(std::string_view list, std::string_view word) noexcept;

/// Chooses names that are unique in a scope of a language.
class unique_names {
  public:
    unique_names() = default;
    /// `reserved` is a list as of contains_word and must outlive this.
    explicit unique_names(std::string_view reserved, macro_policy how = macro_policy::usable)
        : reserved_(reserved), avoids_macros_(how == macro_policy::avoided) {}
    void reserve(std::string word) { taken_.insert(std::move(word)); }

    /// Reserves and returns the name, with underscores appended until it is unique.
    [[nodiscard]] std::string make(std::string_view wanted);

  private:
    std::string_view reserved_;
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
    /// Appends formatted text.
    template <class... Arguments>
    void format(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        text_ += fmt::format(format, std::forward<Arguments>(arguments)...);
    }
    void append(std::string_view text) { text_ += text; }

    [[nodiscard]] std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

/// The bytes as hexadecimal numbers, several in a line, each line indented.
[[nodiscard]] std::string format_byte_list(std::span<const std::uint8_t> bytes, std::size_t indent);

/// Text for a comment: one line, without invisible characters, ends of comments and a backslash at
/// the end, which would make the next line a part of the comment.
[[nodiscard]] std::string comment_text(std::string_view text);

/// "NAME: description", or the name alone.
[[nodiscard]] std::string describe_item(const provider_schema& schema);

/// "A segment was lost. Logged when the timer expires.", or empty without both texts.
[[nodiscard]] std::string describe_item(const event_schema& event);

/// The same behind "Emits NAME.".
[[nodiscard]] std::string describe_emit(const event_schema& event);

/// "bytes, in B: without headers", or empty for a field without unit and description.
[[nodiscard]] std::string describe_item(const field_schema& field);

/// Writes a line with `before` and the description of each field that has one.
void write_field_descriptions(source_writer& out, const event_schema& event,
                              std::string_view before);

/// "one, two, three"
[[nodiscard]] std::string comma_list(const std::vector<std::string>& items);

/// Code with a list, broken behind commas if it is longer than a line.
[[nodiscard]] std::string wrap(std::string text);

[[nodiscard]] std::string upper_case(std::string_view name);
/// "order_placed" becomes "OrderPlaced".
[[nodiscard]] std::string camel_case(std::string_view name);

/// Whether a field is a text, a byte string or a sequence.
[[nodiscard]] bool is_variable(const field_schema& field) noexcept;
[[nodiscard]] bool is_sequence(const field_schema& field) noexcept;
[[nodiscard]] bool is_optional(const field_schema& field) noexcept;
[[nodiscard]] std::size_t count_variable(const event_schema& event) noexcept;
/// Whether functions of C take a size with the data: byte strings and sequences.
[[nodiscard]] bool has_size(const field_schema& field) noexcept;
/// The parameter with that size: NAME_size, or NAME_count for a number of elements.
[[nodiscard]] std::string size_parameter(const field_schema& field, const std::string& name);
/// Bytes of an element of a byte string or sequence.
[[nodiscard]] std::size_t element_size(const field_schema& field) noexcept;
/// Bytes that the field takes in the fixed part of the payload.
[[nodiscard]] std::size_t fixed_size_of(const field_schema& field) noexcept;
/// Whether any event has variable fields that are truncated.
[[nodiscard]] bool has_truncated_events(const provider_schema& schema) noexcept;

template <class Predicate>
[[nodiscard]] bool any_field(const provider_schema& schema, Predicate&& wanted) {
    return std::any_of(schema.events.begin(), schema.events.end(), [&](const event_schema& event) {
        return std::any_of(event.fields.begin(), event.fields.end(), wanted);
    });
}

/// The type of all fields that hold the enumeration; nullopt if they differ or there are none.
[[nodiscard]] std::optional<eventlog::field_type> type_of_enumeration(
    const provider_schema& schema, std::size_t enumeration) noexcept;

/// Whether the enumeration can be an enum in C, whose values are int.
[[nodiscard]] bool fits_int(const enumeration_schema& enumeration) noexcept;

/// A field type in the generated languages. C++ has the names of C, Rust those of the schema.
struct type_spelling {
    std::string_view c;
    std::string_view kernel_c;
    std::string_view python;  // code of the module struct; "text", "bytes": of variable size
    std::string_view python_hint;
};

[[nodiscard]] const type_spelling& spelling_of(eventlog::field_type type) noexcept;

/// A number in source code, with the sign of its type and without suffix.
[[nodiscard]] std::string number_text(std::uint64_t value, eventlog::field_type type);

}  // namespace elog
