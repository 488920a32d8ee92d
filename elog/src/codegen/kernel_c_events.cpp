// SPDX-License-Identifier: MIT
//
// Generates TRACE_EVENT of an event, and the struct with its fields if they are too many
// parameters.
#include <algorithm>

#include "codegen/kernel_c.hpp"

namespace elog::kernel_c {
namespace {

using eventlog::field_type;
using eventlog::format;

constexpr std::size_t line_max = 100;

/// A parameter of the tracepoint or a member of the struct.
struct described_parameter {
    std::string declaration;
    std::string name;
    std::string description;
};

class event_writer {
  public:
    event_writer(source_writer& out, const provider_schema& schema, const names& all,
                 std::size_t id);

    void write_struct();
    void write_event();

  private:
    void write_descriptions();
    void write_comment();
    void write_prototype();
    void write_entry();
    void write_assignments();
    void write_value(const field_names& names);
    void write_var_field(const field_names& names);
    [[nodiscard]] std::string type_of_value(const field_schema& field) const;
    [[nodiscard]] std::string declare(const field_names& names) const;
    [[nodiscard]] std::string size_expression(const field_names& names) const;
    [[nodiscard]] std::string source_of(const std::string& name) const;
    [[nodiscard]] std::string describe(const field_names& names) const;

    source_writer& out_;
    const provider_schema& schema_;
    const names& all_;
    const event_schema& event_;
    const event_names& names_;
    std::size_t id_;
    std::vector<described_parameter> parameters_;
};

event_writer::event_writer(source_writer& out, const provider_schema& schema, const names& all,
                           std::size_t id)
    : out_(out),
      schema_(schema),
      all_(all),
      event_(schema.events[id]),
      names_(all.events[id]),
      id_(id) {
    for (const field_names& names : names_.all) {
        parameters_.push_back({declare(names), names.parameter, describe(names)});
        if (!names.size.empty()) {
            parameters_.push_back(
                {"size_t " + names.size, names.size,
                 is_sequence(*names.field) ? "its number of elements" : "its size in bytes"});
        }
    }
}

std::string event_writer::type_of_value(const field_schema& field) const {
    if (field.enumeration != schema_format::no_index && field.count == 1 &&
        fits_int(schema_.enumerations[field.enumeration])) {
        return "enum " + all_.enumerations[field.enumeration];
    }
    if (field.type == field_type::bytes) {
        return "void";
    }
    return std::string(is_address_number(field) ? "__be32" : spelling_of(field.type).kernel_c);
}

/// Arrays are pointers: BPF's macros use sizeof(parameter).
std::string event_writer::declare(const field_names& names) const {
    const field_schema& field = *names.field;
    const bool by_pointer = is_variable(field) || is_optional(field) || field.count != 1;
    return fmt::format("{}{} {}{}", by_pointer ? "const " : "", type_of_value(field),
                       by_pointer ? "*" : "", names.parameter);
}

/// The kernel-doc text of a parameter.
std::string event_writer::describe(const field_names& names) const {
    const field_schema& field = *names.field;
    std::string description = comment_text(field.description);
    const auto add = [&](const std::string& text) {
        description += (description.empty() ? "" : ", ") + text;
    };
    if (field.count > 1) {
        add(fmt::format("{} elements", field.count));
    }
    if (!field.unit.empty()) {
        add("in " + comment_text(field.unit));
    }
    if (is_address_number(field)) {
        add("an address in network byte order");
    } else if (field.format == format::duration || field.format == format::realtime ||
               field.format == format::monotonic) {
        add("in nanoseconds");
    }
    if (field.type == field_type::text) {
        add(fmt::format("a text of up to {} bytes", names_.var_field_size_max - 2));
    } else if (field.type == field_type::bytes) {
        add(fmt::format("up to {} bytes", names_.var_field_size_max));
    } else if (is_sequence(field)) {
        add(fmt::format("up to {} elements", names_.var_field_size_max / element_size(field)));
    }
    if (is_optional(field)) {
        add("NULL is no value");
    }
    return description.empty() ? std::string(name_of(field.type)) : description;
}

/// The expression for an argument of the caller in TP_STRUCT__entry and TP_fast_assign.
std::string event_writer::source_of(const std::string& name) const {
    return names_.fields.empty() ? name : "fields->" + name;
}

void event_writer::write_descriptions() {
    for (const described_parameter& each : parameters_) {
        out_.line(" * @{}: {}", each.name, each.description);
    }
}

void event_writer::write_struct() {
    out_.line("/**");
    out_.line(" * struct {} - the fields of trace_{}()", names_.fields, names_.event);
    write_descriptions();
    out_.line(" */");
    out_.line("struct {} {{", names_.fields);
    for (const described_parameter& each : parameters_) {
        out_.line("\t{};", each.declaration);
    }
    out_.line("}};");
    out_.line();
}

void event_writer::write_comment() {
    const std::string description = comment_text(event_.description);
    out_.line("/**");
    out_.line(" * {} - {}", names_.event,
              description.empty() ? fmt::format("event {} of {}", event_.name, schema_.name)
                                  : description);
    if (!names_.fields.empty()) {
        out_.line(" * @fields: the values of the fields");
    } else if (event_.fields.empty()) {
        out_.line(" * @unused: a tracepoint has a parameter; pass 0");
    } else {
        write_descriptions();
    }
    out_.line(" *");
    if (!event_.when.empty()) {
        out_.line(" * Logged when {}.", comment_text(event_.when));
    }
    std::string properties = fmt::format("Level {}", name_of(event_.severity));
    if (event_.kind != eventlog::kind::instant) {
        properties += fmt::format(", kind {}", name_of(event_.kind));
    }
    const char* before = ", keywords ";
    for (const auto& [bit, name] : schema_.keywords) {
        if ((event_.keywords >> bit & 1U) != 0) {
            properties += before + name;
            before = " ";
        }
    }
    out_.line(" * {}{}.", properties,
              event_.session_bound ? "; of the session that it begins with" : "");
    out_.line(" */");
}

void event_writer::write_prototype() {
    std::vector<std::string> prototype;
    std::vector<std::string> arguments;
    if (!names_.fields.empty()) {
        prototype = {fmt::format("const struct {} *fields", names_.fields)};
        arguments = {"fields"};
    } else if (parameters_.empty()) {
        prototype = {"int unused"};
        arguments = {"unused"};
    } else {
        for (const described_parameter& each : parameters_) {
            prototype.push_back(each.declaration);
            arguments.push_back(each.name);
        }
    }
    out_.line("{}", fold("\tTP_PROTO(", prototype, "),", "\t\t "));
    out_.line();
    out_.line("{}", fold("\tTP_ARGS(", arguments, "),", "\t\t"));
    out_.line();
}

std::string event_writer::size_expression(const field_names& names) const {
    const std::string from = source_of(names.parameter);
    if (names.field->type == field_type::text) {
        return fmt::format("{}({}, {})", all_.text_size, from, names_.var_field_size_max);
    }
    return fmt::format("{}({}, {}, {})", all_.bytes_size, from, source_of(names.size),
                       names_.var_field_size_max / element_size(*names.field));
}

void event_writer::write_entry() {
    out_.line("\tTP_STRUCT__entry(");
    for (const field_names* names : in_payload_order(names_)) {
        const field_schema& field = *names->field;
        const std::string_view type = spelling_of(field.type).kernel_c;
        if (is_variable(field)) {
            const std::string begin = fmt::format("\t\t__dynamic_array({}, {},", type, field.name);
            const std::string size = size_expression(*names) + ")";
            const bool fits = begin.size() + size.size() + 1 + std::size_t{2} * 7 <= line_max;
            out_.line("{}{}{}", begin, fits ? " " : "\n\t\t\t", size);
        } else if (field.count != 1) {
            out_.line("\t\t__array({}, {}, {})", type, field.name, field.count);
        } else {
            out_.line("\t\t__field({}, {})", type, field.name);
        }
    }
    for (const field_names& names : names_.all) {
        if (!names.presence.empty()) {
            out_.line("\t\t__field(bool, {})", names.presence);
        }
    }
    out_.line("\t),");
    out_.line();
}

void event_writer::write_var_field(const field_names& names) {
    const std::string& name = names.field->name;
    const std::string from = source_of(names.parameter);
    if (names.field->type == field_type::text) {
        out_.line("\t\t{}(__get_str({}), {},", all_.copy_text, name, from);
        out_.line("\t\t\t__get_dynamic_array_len({}), {});", name, names_.var_field_size_max);
        out_.line("\t\tif (!{})", from);
    } else {
        out_.line("\t\tmemcpy(__get_dynamic_array({}), {},", name, from);
        out_.line("\t\t       __get_dynamic_array_len({}));", name);
        out_.line("\t\tif (!__get_dynamic_array_len({}))", name);
    }
    out_.line("\t\t\t__entry->__data_loc_{} = 0;", name);
}

void event_writer::write_value(const field_names& names) {
    const field_schema& field = *names.field;
    const std::string to = "__entry->" + field.name;
    const std::string from = source_of(names.parameter);
    const std::string_view cast = is_address_number(field) ? "(__force u32)" : "";
    if (field.count != 1 && is_optional(field)) {
        out_.line("\t\tif ({})", from);
        out_.line("\t\t\tmemcpy({0}, {1}, sizeof({0}));", to, from);
        out_.line("\t\telse");
        out_.line("\t\t\tmemset({0}, 0, sizeof({0}));", to);
    } else if (field.count != 1) {
        out_.line("\t\tmemcpy({0}, {1}, sizeof({0}));", to, from);
    } else if (is_optional(field)) {
        out_.line("\t\t{0} = {1} ? {2}*{1} : 0;", to, from, cast);
    } else {
        out_.line("\t\t{} = {}{};", to, cast, from);
    }
}

void event_writer::write_assignments() {
    out_.line("\tTP_fast_assign(");
    for (const field_names& names : names_.all) {
        if (is_variable(*names.field)) {
            write_var_field(names);
        } else {
            write_value(names);
        }
        if (!names.presence.empty()) {
            out_.line("\t\t__entry->{} = {} != NULL;", names.presence, source_of(names.parameter));
        }
    }
    out_.line("\t),");
    out_.line();
}

void event_writer::write_event() {
    write_comment();
    out_.line("TRACE_EVENT({},", names_.event);
    out_.line();
    write_prototype();
    write_entry();
    write_assignments();
    out_.line("\t{}", make_printk(schema_, all_, id_));
    out_.line(");");
    out_.line();
}

}  // namespace

bool is_address_number(const field_schema& field) {
    return field.format == format::ip_address && field.type == field_type::unsigned_32;
}

std::vector<const field_names*> in_payload_order(const event_names& event) {
    std::vector<const field_names*> sorted;
    for (const field_names& names : event.all) {
        sorted.push_back(&names);
    }
    std::sort(sorted.begin(), sorted.end(), [](const auto* one, const auto* other) {
        return one->field->offset < other->field->offset;
    });
    return sorted;
}

void write_struct(source_writer& out, const provider_schema& schema, const names& all,
                  std::size_t event) {
    event_writer(out, schema, all, event).write_struct();
}

void write_trace_event(source_writer& out, const provider_schema& schema, const names& all,
                       std::size_t event) {
    event_writer(out, schema, all, event).write_event();
}

}  // namespace elog::kernel_c
