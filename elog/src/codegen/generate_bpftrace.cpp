// SPDX-License-Identifier: MIT
//
// elog schema bpftrace: a script that prints the events of a provider.
#include "codegen/generate_bpftrace.hpp"

#include <cstddef>
#include <set>
#include <string_view>
#include <vector>

#include "codegen/source_text.hpp"

namespace elog {
namespace {

using eventlog::field_type;

// bpftrace has no more arguments of a probe on x86-64: arg0 to arg5.
constexpr std::size_t probe_arguments_max = 6;

// An array of more elements would make a line of a printf that bpftrace rejects.
constexpr std::size_t printed_elements_max = 8;

/// The value of a field in a printf: the conversion, and the expressions for it.
struct printed_value {
    std::string conversion{};
    std::vector<std::string> expressions{};
};

std::string_view conversion_of(field_type type) noexcept {
    switch (type) {
        case field_type::signed_8:
        case field_type::signed_16:
        case field_type::signed_32:
        case field_type::signed_64:
            return "%lld";
        default:
            return "%llu";
    }
}

bool is_floating(field_type type) noexcept {
    return type == field_type::float_32 || type == field_type::float_64;
}

/// The kernel's name of the type, in the description of a trace event.
std::string_view kernel_type_of(field_type type) noexcept {
    switch (type) {
        case field_type::boolean:
        case field_type::unsigned_8:
            return "u8";
        case field_type::character:
            return "char";
        case field_type::signed_8:
            return "s8";
        case field_type::signed_16:
            return "s16";
        case field_type::signed_32:
            return "s32";
        case field_type::signed_64:
            return "s64";
        case field_type::unsigned_16:
            return "u16";
        case field_type::unsigned_32:
            return "u32";
        case field_type::unsigned_64:
            return "u64";
        case field_type::float_32:
            return "f32";
        case field_type::float_64:
            return "f64";
        case field_type::text:
        case field_type::bytes:
            break;
    }
    return "";
}

/// Whether the kernel has no type of its own for the field: trace events have a struct that nothing
/// defines, so that bpftrace would reject the event.
bool is_struct(const field_schema& field) noexcept {
    const bool is_characters = field.type == field_type::character && field.count != 1;
    return !is_variable(field) && !is_characters && (field.count != 1 || is_floating(field.type));
}

std::string struct_name(const field_schema& field) {
    std::string name(kernel_type_of(field.type));
    return field.count == 1 ? name : name + fmt::format("x{}", field.count);
}

/// What a C compiler calls an integer of that size; floating-point numbers are shown by their bits.
std::string_view c_type_of(field_type type) noexcept {
    switch (type) {
        case field_type::signed_8:
            return "signed char";
        case field_type::signed_16:
            return "short";
        case field_type::signed_32:
            return "int";
        case field_type::signed_64:
            return "long long";
        case field_type::unsigned_16:
            return "unsigned short";
        case field_type::unsigned_32:
        case field_type::float_32:
            return "unsigned int";
        case field_type::unsigned_64:
        case field_type::float_64:
            return "unsigned long long";
        default:
            return "unsigned char";
    }
}

/// The elements of a struct: all of an array that is not too long.
printed_value of_struct(const field_schema& field) {
    if (field.count > printed_elements_max) {
        return {};
    }
    const std::string conversion =
        is_floating(field.type) ? "0x%llx" : std::string(conversion_of(field.type));
    printed_value printed;
    for (std::size_t i = 0; i < field.count; ++i) {
        printed.conversion += (i == 0 ? "" : ",") + conversion;
        printed.expressions.push_back(fmt::format("args->{}.values[{}]", field.name, i));
    }
    if (field.count != 1) {
        printed.conversion = "[" + printed.conversion + "]";
    }
    return printed;
}

/// A field of a trace event. bpftrace cannot print byte strings, sequences and long arrays there:
/// no conversion.
printed_value of_trace_event(const field_schema& field) {
    if (is_struct(field)) {
        return of_struct(field);
    }
    const std::string value = "args->" + field.name;
    if (field.type == field_type::text) {
        return {"%s", {"str(" + value + ")"}};
    }
    if (is_variable(field)) {
        return {};
    }
    if (field.type == field_type::character && field.count != 1) {
        return {"%s", {value}};
    }
    return {std::string(conversion_of(field.type)), {value}};
}

/// Defines the structs in trace events of the provider.
void write_structs(const provider_schema& schema, source_writer& out) {
    std::set<std::string> written;
    for (const event_schema& event : schema.events) {
        for (const field_schema& field : event.fields) {
            if (!is_struct(field) || !written.insert(struct_name(field)).second) {
                continue;
            }
            if (written.size() == 1) {
                out.line();
            }
            out.line("struct {} {{ {} values[{}]; }};", struct_name(field), c_type_of(field.type),
                     field.count);
        }
    }
}

/// A field of a USDT probe, whose arguments begin at that number: numbers by value, a double by its
/// bits, other fields by address.
printed_value of_probe(const field_schema& field, std::size_t argument) {
    const std::string value = fmt::format("arg{}", argument);
    if (field.type == field_type::text) {
        return {"%s", {"str(" + value + ")"}};
    }
    if (field.type == field_type::character && field.count != 1) {
        return {"%s", {fmt::format("str({}, {})", value, field.count)}};
    }
    if (has_size(field)) {
        const std::size_t size = element_size(field);
        const std::string factor = size == 1 ? std::string() : fmt::format(" * {}", size);
        return {"%r", {fmt::format("buf({}, arg{}{})", value, argument + 1, factor)}};
    }
    if (field.count != 1) {
        return {"%r", {fmt::format("buf({}, {})", value, field.count * size_of(field.type))}};
    }
    if (is_floating(field.type)) {
        return {"0x%llx", {value}};
    }
    return {std::string(conversion_of(field.type)), {value}};
}

/// Fields that the script cannot print are named in a comment.
class event_script {
  public:
    event_script(const provider_schema& schema, const event_schema& event, bool is_probe)
        : text_(schema.name + ":" + event.name) {
        std::size_t argument = 0;
        for (const field_schema& field : event.fields) {
            const std::size_t taken = has_size(field) ? 2 : 1;
            if (!is_probe) {
                add(field, of_trace_event(field));
            } else if (argument + taken <= probe_arguments_max) {
                add(field, of_probe(field, argument));
            } else {
                add(field, {});
            }
            argument += taken;
        }
    }

    void write(source_writer& out) const {
        if (!left_out_.empty()) {
            out.line("    // not printed: {}", comma_list(left_out_));
        }
        out.append("    printf(\"" + text_ + "\\n\"");
        for (const std::string& each : expressions_) {
            out.append(", " + each);
        }
        out.line(");");
    }

  private:
    void add(const field_schema& field, const printed_value& value) {
        if (value.expressions.empty()) {
            left_out_.push_back(field.name);
            return;
        }
        text_ += " " + field.name + "=" + value.conversion;
        expressions_.insert(expressions_.end(), value.expressions.begin(), value.expressions.end());
    }

    std::string text_;
    std::vector<std::string> expressions_;
    std::vector<std::string> left_out_;
};

}  // namespace

std::string generate_bpftrace(const provider_schema& schema, const std::string& program) {
    source_writer out;
    out.line("#!/usr/bin/env bpftrace");
    out.line("// {}", comment_text(describe_item(schema)));
    if (program.empty()) {
        write_structs(schema, out);
    }
    for (const event_schema& event : schema.events) {
        out.line();
        const std::string description = describe_item(event);
        if (!description.empty()) {
            out.line("// {}", comment_text(description));
        }
        if (program.empty()) {
            out.line("tracepoint:eventlog:{}_{}", schema.name, event.name);
        } else {
            out.line("usdt:{}:{}:{}", program, schema.name, event.name);
        }
        out.line("{{");
        event_script(schema, event, !program.empty()).write(out);
        out.line("}}");
    }
    return out.take();
}

}  // namespace elog
