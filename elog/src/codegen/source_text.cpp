// SPDX-License-Identifier: MIT
#include "codegen/source_text.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "codegen/macro_names.hpp"
#include "schema/schema_values.hpp"
#include "text/escaped_text.hpp"

namespace elog {
namespace {

constexpr std::size_t bytes_in_a_line = 14;

// In the order of eventlog::field_type.
constexpr std::array<type_spelling, 14> spellings{{
    {"bool", "bool", "?", "bool"},
    {"char", "char", "s", "str | bytes"},
    {"int8_t", "s8", "b", "int"},
    {"int16_t", "s16", "h", "int"},
    {"int32_t", "s32", "i", "int"},
    {"int64_t", "s64", "q", "int"},
    {"uint8_t", "u8", "B", "int"},
    {"uint16_t", "u16", "H", "int"},
    {"uint32_t", "u32", "I", "int"},
    {"uint64_t", "u64", "Q", "int"},
    {"float", "", "f", "float"},  // the kernel has no floating point: kernel_c::check() rejects it
    {"double", "", "d", "float"},
    {"char", "char", "text", "str | None"},
    {"void", "u8", "bytes", "bytes"},
}};

char to_upper(char c) noexcept {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
    for (std::size_t at = text.find(what); at != std::string::npos;
         at = text.find(what, at + with.size())) {
        text.replace(at, what.size(), with);
    }
}

bool ends_a_sentence(std::string_view text) noexcept {
    return !text.empty() && (text.back() == '.' || text.back() == '!' || text.back() == '?');
}

}  // namespace

bool contains_word(std::string_view list, std::string_view word) noexcept {
    for (std::size_t at = list.find(word); at != std::string_view::npos;
         at = list.find(word, at + 1)) {
        if (list[at - 1] == ' ' && list[at + word.size()] == ' ') {
            return true;
        }
    }
    return false;
}

std::string unique_names::make(std::string_view wanted) {
    std::string name(wanted);
    if (avoids_macros_ && is_macro(name)) {
        // Compilers define _T_SIZE and _T_SIZE_, __size_t and __size_t__: one _ is not enough.
        name += is_compiler_macro(name) ? "___" : "_";
    }
    while (contains_word(reserved_, name) || !taken_.insert(name).second) {
        name += '_';
    }
    return name;
}

std::string format_byte_list(std::span<const std::uint8_t> bytes, std::size_t indent) {
    std::string lines;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i % bytes_in_a_line == 0) {
            lines += i == 0 ? "" : "\n";
            lines.append(indent, ' ');
        } else {
            lines += ' ';
        }
        lines += fmt::format("0x{:02x},", bytes[i]);
    }
    return lines;
}

std::string comment_text(std::string_view text) {
    fmt::memory_buffer visible;
    append_visible(visible, text);
    std::string made = fmt::to_string(visible);
    replace_all(made, "*/", "* /");
    replace_all(made, "/*", "/ *");
    // At the end of a line both continue a comment of C and C++ on the next line, whatever space
    // follows.
    replace_all(made, "?\?/", "?\? /");
    const std::size_t end = made.find_last_not_of(' ');
    if (end != std::string::npos && made[end] == '\\') {
        made += '.';
    }
    return made;
}

std::string describe_item(const provider_schema& schema) {
    return schema.description.empty()
               ? schema.name
               : fmt::format("{}: {}", schema.name, comment_text(schema.description));
}

std::string describe_item(const event_schema& event) {
    std::string sentence = comment_text(event.description);
    if (!sentence.empty() && !ends_a_sentence(sentence)) {
        sentence += '.';
    }
    if (!event.when.empty()) {
        sentence += sentence.empty() ? "" : " ";
        sentence += "Logged when " + comment_text(event.when);
        sentence += ends_a_sentence(sentence) ? "" : ".";
    }
    return sentence;
}

std::string describe_item(const field_schema& field) {
    std::string sentence;
    if (!field.unit.empty()) {
        sentence += ", in " + comment_text(field.unit);
    }
    if (!field.description.empty()) {
        sentence += ": " + comment_text(field.description);
    }
    return sentence.empty() ? sentence : field.name + sentence;
}

std::string describe_emit(const event_schema& event) {
    const std::string sentence = describe_item(event);
    return fmt::format("Emits {}.{}{}", event.name, sentence.empty() ? "" : " ", sentence);
}

void write_field_descriptions(source_writer& out, const event_schema& event,
                              std::string_view before) {
    for (const field_schema& field : event.fields) {
        if (const std::string about = describe_item(field); !about.empty()) {
            out.line("{}{}", before, about);
        }
    }
}

std::string comma_list(const std::vector<std::string>& items) {
    std::string list;
    for (const std::string& item : items) {
        list += list.empty() ? "" : ", ";
        list += item;
    }
    return list;
}

std::string wrap(std::string text) {
    constexpr std::size_t width = 100;
    const std::size_t indent = text.find_first_not_of(' ') + 4;
    std::size_t begin = 0;
    while (text.size() - begin > width) {
        // Breaks behind the last comma that fits; a longer item is not broken.
        const std::size_t comma = text.rfind(", ", begin + width - 1);
        if (comma == std::string::npos || comma <= begin + indent) {
            break;
        }
        text[comma + 1] = '\n';
        text.insert(comma + 2, indent, ' ');
        begin = comma + 2;
    }
    return text;
}

std::string upper_case(std::string_view name) {
    std::string made(name);
    std::transform(made.begin(), made.end(), made.begin(), to_upper);
    return made;
}

std::string camel_case(std::string_view name) {
    std::string made;
    bool first = true;
    for (const char c : name) {
        if (c == '_') {
            first = true;
            continue;
        }
        // A _ stays before a digit: names do not begin with one, and a_1_1 differs from a_11.
        if (c >= '0' && c <= '9' && first) {
            made += '_';
        }
        made += first ? to_upper(c) : c;
        first = false;
    }
    return made.empty() ? std::string("_") : made;
}

bool is_variable(const field_schema& field) noexcept {
    return eventlog::is_variable(field.type, field.count);
}

bool is_sequence(const field_schema& field) noexcept {
    return field.count == 0;
}

bool is_optional(const field_schema& field) noexcept {
    return field.presence != schema_format::no_index;
}

std::size_t count_variable(const event_schema& event) noexcept {
    return static_cast<std::size_t>(
        std::count_if(event.fields.begin(), event.fields.end(), is_variable));
}

bool has_size(const field_schema& field) noexcept {
    return is_variable(field) && field.type != eventlog::field_type::text;
}

std::string size_parameter(const field_schema& field, const std::string& name) {
    return name + (is_sequence(field) ? "_count" : "_size");
}

std::size_t element_size(const field_schema& field) noexcept {
    return field.type == eventlog::field_type::bytes ? 1 : eventlog::size_of(field.type);
}

std::size_t fixed_size_of(const field_schema& field) noexcept {
    return eventlog::fixed_size_of(field.type, field.count);
}

bool has_truncated_events(const provider_schema& schema) noexcept {
    return std::any_of(schema.events.begin(), schema.events.end(), [](const auto& event) {
        return event.truncates && count_variable(event) != 0;
    });
}

std::optional<eventlog::field_type> type_of_enumeration(const provider_schema& schema,
                                                        std::size_t enumeration) noexcept {
    std::optional<eventlog::field_type> found;
    for (const event_schema& event : schema.events) {
        for (const field_schema& field : event.fields) {
            if (field.enumeration == enumeration) {
                if (found && *found != field.type) {
                    return std::nullopt;
                }
                found = field.type;
            }
        }
    }
    return found;
}

bool fits_int(const enumeration_schema& enumeration) noexcept {
    return !enumeration.is_bitmask && !enumeration.values.empty() &&
           std::all_of(enumeration.values.begin(), enumeration.values.end(), [](const auto& value) {
               const auto number = static_cast<std::int64_t>(value.first);
               return number >= std::numeric_limits<std::int32_t>::min() &&
                      number <= std::numeric_limits<std::int32_t>::max();
           });
}

const type_spelling& spelling_of(eventlog::field_type type) noexcept {
    return spellings.at(static_cast<std::size_t>(type) - 1);
}

std::string number_text(std::uint64_t value, eventlog::field_type type) {
    return is_signed(type) ? fmt::format("{}", static_cast<std::int64_t>(value))
                           : fmt::format("{}", value);
}

}  // namespace elog
