// SPDX-License-Identifier: MIT
//
// elog schema bpftrace: a script that prints the events of a provider.
#include "codegen/generate_bpftrace.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

#include "codegen/source_text.hpp"

namespace elog {
namespace {

using eventlog::field_type;

// A USDT probe has no more arguments: eventlog(7).
constexpr std::size_t probe_arguments_max = 12;

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

/// A field of a trace event. bpftrace cannot print floating-point numbers, byte strings and arrays
/// there: no conversion.
printed_value of_trace_event(const field_schema& field) {
    const std::string value = "args->" + field.name;
    if (field.type == field_type::text) {
        return {"%s", {"str(" + value + ")"}};
    }
    if (field.type == field_type::character && field.count != 1) {
        return {"%s", {value}};
    }
    if (field.type == field_type::bytes || field.count != 1 || is_floating(field.type)) {
        return {};
    }
    return {std::string(conversion_of(field.type)), {value}};
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
    if (field.type == field_type::bytes) {
        return {"%r", {fmt::format("buf({}, arg{})", value, argument + 1)}};
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
            const std::size_t taken = field.type == field_type::bytes ? 2 : 1;
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
