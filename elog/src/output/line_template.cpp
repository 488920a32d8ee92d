// SPDX-License-Identifier: MIT
#include "output/line_template.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/core.h>

#include "predicate/expression_lexer.hpp"

namespace elog {
namespace {

constexpr std::pair<std::string_view, line_part_kind> template_variables[] = {
    {"time", line_part_kind::time},         {"date", line_part_kind::date},
    {"delta", line_part_kind::delta},       {"elapsed", line_part_kind::elapsed},
    {"number", line_part_kind::number},     {"cpu", line_part_kind::cpu},
    {"pid", line_part_kind::pid},           {"tid", line_part_kind::tid},
    {"uid", line_part_kind::uid},           {"comm", line_part_kind::comm},
    {"level", line_part_kind::level},       {"event", line_part_kind::event},
    {"provider", line_part_kind::provider}, {"session", line_part_kind::session},
    {"fields", line_part_kind::fields},
};

constexpr std::string_view format_option = "--format";
constexpr std::string_view fields_option = "--fields";

bool is_name_character(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

void check_size(std::string_view option, std::string_view text) {
    if (text.size() > expression_size_max) {
        reject_expression(option, 1,
                          fmt::format("This has {} bytes; up to {} are allowed.", text.size(),
                                      expression_size_max));
    }
}

/// A field's name in the schema: fields of nested structs have _ for each point.
std::string field_name(std::string_view written) {
    std::string name(written);
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
}

/// Reads a template character by character.
class template_reader {
  public:
    explicit template_reader(std::string_view text) : text_(text) {}

    std::vector<line_part> read();

  private:
    [[noreturn]] static void reject(std::size_t column, std::string_view reason) {
        reject_expression(format_option, column, reason);
    }

    [[nodiscard]] bool at_end() const noexcept { return next_ == text_.size(); }
    [[nodiscard]] bool is_next(char c) const noexcept { return !at_end() && text_[next_] == c; }
    char take() noexcept;
    void take_escape(std::size_t column);
    void take_name(std::size_t column);
    void add_text(char c);

    std::string_view text_;
    std::size_t next_ = 0;
    std::size_t column_ = 1;  // of the next character
    std::vector<line_part> parts_;
};

char template_reader::take() noexcept {
    const char c = text_[next_++];
    // Only the first byte of a character counts as a column.
    const bool goes_on = !at_end() && (static_cast<unsigned char>(text_[next_]) & 0xc0U) == 0x80U;
    column_ += goes_on ? 0U : 1U;
    return c;
}

void template_reader::add_text(char c) {
    if (parts_.empty() || parts_.back().kind != line_part_kind::text) {
        parts_.emplace_back();
    }
    parts_.back().field.name.push_back(c);
}

/// The character after the backslash at `column`.
void template_reader::take_escape(std::size_t column) {
    switch (at_end() ? '\0' : take()) {
        case 'n':
            return add_text('\n');
        case 't':
            return add_text('\t');
        case '\\':
            return add_text('\\');
        default:
            reject(column, "\\ must be followed by n, t or another \\.");
    }
}

/// The name after the brace at `column`.
void template_reader::take_name(std::size_t column) {
    const std::size_t name_column = column_;
    const std::size_t begin = next_;
    while (!at_end() && is_name_character(text_[next_])) {
        take();
    }
    const std::string_view name = text_.substr(begin, next_ - begin);
    if (at_end()) {
        reject(column, "This { has no }. One that is meant as such is written {{.");
    }
    if (!is_next('}')) {
        reject(column_, "A name has letters, digits and _, and ends with }.");
    }
    take();
    if (name.find_first_not_of('.') == std::string_view::npos) {
        reject(name_column, "A name is missing between { and }.");
    }
    const auto* word = std::find_if(std::begin(template_variables), std::end(template_variables),
                                    [&](const auto& known) { return known.first == name; });
    if (word != std::end(template_variables)) {
        parts_.push_back({word->second, {std::string(name), name_column}});
        return;
    }
    const std::string_view field = name.substr(name.front() == '.' ? 1 : 0);
    parts_.push_back({line_part_kind::field, {field_name(field), name_column}});
}

std::vector<line_part> template_reader::read() {
    while (!at_end()) {
        const std::size_t column = column_;
        const char c = take();
        if (c == '\\') {
            take_escape(column);
        } else if ((c == '{' || c == '}') && is_next(c)) {
            add_text(take());
        } else if (c == '{') {
            take_name(column);
        } else if (c == '}') {
            reject(column, "A } that is meant as such is written }}.");
        } else {
            add_text(c);
        }
    }
    return std::move(parts_);
}

}  // namespace

line_template::line_template(std::string_view text) {
    check_size(format_option, text);
    if (text.empty()) {
        reject_expression(format_option, 1, "A template is needed, such as '{time} {event}'.");
    }
    parts_ = template_reader(text).read();
}

bool line_template::has(line_part_kind kind) const noexcept {
    return std::any_of(parts_.begin(), parts_.end(),
                       [kind](const line_part& part) { return part.kind == kind; });
}

std::vector<std::string_view> line_template::variable_names() {
    std::vector<std::string_view> names;
    for (const auto& [name, kind] : template_variables) {
        names.push_back(name);
    }
    return names;
}

std::vector<named_field> parse_field_list(std::string_view text) {
    check_size(fields_option, text);
    std::vector<named_field> fields;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        std::string_view written = text.substr(begin, end - begin);
        written.remove_prefix(std::min(written.find_first_not_of(' '), written.size()));
        const std::size_t column = end - written.size() + 1;
        written = written.substr(0, written.find_last_not_of(' ') + 1);
        const auto* const wrong =
            std::find_if_not(written.begin(), written.end(), is_name_character);
        if (wrong != written.end()) {
            reject_expression(fields_option,
                              column + static_cast<std::size_t>(wrong - written.begin()),
                              "A name has letters, digits and _; commas separate names.");
        }
        written.remove_prefix(written.starts_with('.') ? 1 : 0);
        if (written.empty()) {
            reject_expression(fields_option, column, "The name of a field is missing here.");
        }
        std::string name = field_name(written);
        const bool is_there = std::any_of(fields.begin(), fields.end(),
                                          [&](const auto& field) { return field.name == name; });
        if (is_there) {
            reject_expression(fields_option, column, "This field has been named before.");
        }
        fields.push_back({std::move(name), column});
        begin = end + 1;
    }
    return fields;
}

}  // namespace elog
