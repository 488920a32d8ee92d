// SPDX-License-Identifier: MIT
#include "output/template_steps.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace elog {
namespace {

/// Stands for a field that the event does not have, like a missing value.
constexpr std::string_view nothing = "-";

std::optional<std::uint16_t> find_field(const event_schema& event, const std::string& name) {
    for (std::size_t i = 0; i < event.fields.size(); ++i) {
        if (event.fields[i].name == name) {
            return static_cast<std::uint16_t>(i);
        }
    }
    return std::nullopt;
}

/// The session number is the first field.
std::optional<std::uint16_t> session_field(const event_schema& event) {
    const bool has_session = event.session_bound && !event.fields.empty();
    return has_session ? std::optional<std::uint16_t>(0) : std::nullopt;
}

class template_compiler {
  public:
    template_compiler(const provider_schema& provider, const event_schema& event,
                      const std::vector<selected_field>& fields)
        : provider_(provider), event_(event), fields_(fields) {}

    void add(const line_part& part);
    [[nodiscard]] std::vector<template_step> take() { return std::move(steps_); }

  private:
    void add_text(std::string_view text);
    void add_field(std::optional<std::uint16_t> index);
    void add_fields();

    const provider_schema& provider_;
    const event_schema& event_;
    const std::vector<selected_field>& fields_;
    std::vector<template_step> steps_;
};

void template_compiler::add_text(std::string_view text) {
    if (steps_.empty() || steps_.back().kind != line_part_kind::text) {
        steps_.emplace_back();
    }
    steps_.back().text += text;
}

void template_compiler::add_field(std::optional<std::uint16_t> index) {
    if (index) {
        steps_.push_back({line_part_kind::field, *index});
    } else {
        add_text(nothing);
    }
}

void template_compiler::add_fields() {
    bool is_first = true;
    for (const selected_field& field : fields_) {
        // The label begins with a blank, which only separates fields.
        add_text(std::string_view(field.label).substr(is_first ? 1 : 0));
        add_field(field.index);
        is_first = false;
    }
}

void template_compiler::add(const line_part& part) {
    switch (part.kind) {
        case line_part_kind::text:
            return add_text(part.field.name);
        case line_part_kind::level:
            return add_text(name_of(event_.severity));
        case line_part_kind::event:
            return add_text(event_.name);
        case line_part_kind::provider:
            return add_text(provider_.name);
        case line_part_kind::session:
            return add_field(session_field(event_));
        case line_part_kind::fields:
            return add_fields();
        case line_part_kind::field:
            return add_field(find_field(event_, part.field.name));
        default:
            steps_.push_back({part.kind});
    }
}

}  // namespace

std::vector<selected_field> select_fields(const text_options& options, const event_schema& event) {
    std::vector<selected_field> fields;
    const auto add = [&](std::size_t index) {
        fields.push_back(
            {fmt::format(" {}=", event.fields[index].name), static_cast<std::uint16_t>(index)});
    };
    if (!options.fields) {
        for (std::size_t i = 0; i < event.fields.size(); ++i) {
            add(i);
        }
        return fields;
    }
    for (const named_field& wanted : *options.fields) {
        if (const std::optional<std::uint16_t> index = find_field(event, wanted.name)) {
            add(*index);
        }
    }
    return fields;
}

std::vector<template_step> compile_template(const line_template& line,
                                            const provider_schema& provider,
                                            const event_schema& event,
                                            const std::vector<selected_field>& fields) {
    template_compiler steps(provider, event, fields);
    for (const line_part& part : line.parts()) {
        steps.add(part);
    }
    return steps.take();
}

}  // namespace elog
