// SPDX-License-Identifier: MIT
//
// Checks whether the kernel can have a schema's events, and chooses the names of its code.
#include <algorithm>

#include "codegen/kernel_c.hpp"
#include "codegen/macro_names.hpp"
#include "text/escaped_text.hpp"

namespace elog::kernel_c {
namespace {

/// Limit of a payload. ftrace drops records that do not fit into one page together with the page's
/// header, the record's header, a time stamp and struct trace_entry; perf's limit is two pages.
constexpr std::size_t payload_max = 4000;

/// The least room for a variable field: enough for a truncated text with its mark.
constexpr std::size_t var_field_size_min = 16;

/// The kernel passes up to twelve arguments of a tracepoint to BPF; more do not compile.
constexpr std::size_t parameters_max = 12;

using eventlog::field_type;

/// Keywords, and macros of common headers: no member of a struct can have these names.
constexpr std::string_view kernel_c_reserved_words =
    " asm asm_inline asmlinkage auto break case char const continue current default do double else "
    "enum extern fallthrough float for goto if inb inl inline int inw ioremap iounmap linux long "
    "noinline noinstr notrace outb outl outw readb readl readq readw register restrict return "
    "short signed sizeof static struct swab switch typedef typeof union unix unsigned vmemmap "
    "void volatile while writeb writel writeq writew HZ NULL BITS_PER_LONG PAGE_SHIFT PAGE_SIZE "
    "PAGE_MASK REC THIS_MODULE TRACE_SYSTEM TP_ARGS TP_PROTO READ WRITE MODULE ";

/// Names that only a parameter cannot have: types, and local names of the macros around
/// TP_fast_assign and of the header's functions.
constexpr std::string_view parameter_reserved_words =
    " args bool count entry event_call false fbuffer fields head iter memcpy memset offsetof p "
    "proto rctx regs s16 s32 s64 s8 size_t strlen strnlen trace_file true u16 u32 u64 u8 link "
    "prog it_func it_func_ptr cond __be32 ";

/// Why the name cannot be a member of a trace event's entry; empty if it can.
std::string_view invalid_member_reason(std::string_view name) noexcept {
    if (contains_word(kernel_c_reserved_words, name) || is_module_macro(name)) {
        return "which means something else in the kernel's C";
    }
    if (looks_like_kernel_macro(name)) {
        return "and names in capitals with _ are those of the kernel's macros";
    }
    if (name.starts_with("__")) {
        return "and names with __ in front belong to the kernel";
    }
    if (name == "ent" || name.starts_with("common_")) {
        return "which every trace event has already";
    }
    return {};
}

/// Whether the kernel's helper of another text has the field's name.
bool collides_with_helper(const event_schema& event, const field_schema& field) noexcept {
    return is_variable(field) &&
           std::any_of(event.fields.begin(), event.fields.end(), [&](const field_schema& other) {
               return is_variable(other) && field.name == other.name + "_ptr_";
           });
}

/// Whether a text may stand in the format of a trace event, which has no escapes. Compilers reject
/// characters that change the direction of writing.
bool is_plain(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t length = printable_length(text);
        if (length == 0 || text.front() == '"' || text.front() == '\\') {
            return false;
        }
        text.remove_prefix(length);
    }
    return true;
}

void check_field(const located_schema& source, std::size_t id, std::size_t index) {
    const event_schema& event = source.schema.events[id];
    const field_schema& field = event.fields[index];
    const text_position where = source.fields[id][index];
    if (field.type == field_type::float_32 || field.type == field_type::float_64) {
        source.reject(where, fmt::format("The kernel computes nothing in floating point, so {} has "
                                         "no value there. Make it an integer, with a unit that "
                                         "makes it fine enough.",
                                         field.name));
    }
    if (const std::string_view why = invalid_member_reason(field.name); !why.empty()) {
        source.reject(where, fmt::format("The kernel shows fields by their names in C, {}: {}. "
                                         "Give the field another name.",
                                         why, field.name));
    }
    if (collides_with_helper(event, field)) {
        source.reject(where, fmt::format("The kernel's macros need the name {} themselves, next "
                                         "to the text {}. Give the field another name.",
                                         field.name, field.name.substr(0, field.name.size() - 5)));
    }
    if (!is_plain(field.unit)) {
        source.reject(where, fmt::format("The unit of {} stands in the format of a trace event, "
                                         "which cannot contain quotes, backslashes, control and "
                                         "invisible characters.",
                                         field.name));
    }
}

/// The tracepoint of an event has functions besides trace_NAME().
void check_event_name(const located_schema& source, std::size_t id) {
    const std::string& name = source.schema.events[id].name;
    for (const std::string_view behind : {"_enabled", "_rcuidle"}) {
        for (const event_schema& other : source.schema.events) {
            if (name == other.name + std::string(behind)) {
                source.reject(source.events[id],
                              fmt::format("The kernel has a function trace_{}_{}() for the event "
                                          "{} already. Give this event another name.",
                                          source.schema.name, name, other.name));
            }
        }
    }
}

void check_payload_size(const located_schema& source, std::size_t id) {
    const event_schema& event = source.schema.events[id];
    const std::size_t pieces = count_variable(event);
    const std::size_t needed = event.fixed_size + pieces * var_field_size_min;
    if (needed > payload_max) {
        source.reject(source.events[id],
                      fmt::format("The fields of this event take {} bytes, and a trace event "
                                  "carries {}. Use smaller arrays, or two events.",
                                  needed, payload_max));
    }
    if (pieces != 0 && !event.truncates) {
        source.reject(
            source.events[id],
            "The kernel would drop this event silently if a text, byte string or "
            "sequence is too long. Write truncates after its level (and kind and session): "
            "then they are truncated and marked.");
    }
}

std::size_t count_parameters(const event_schema& event) noexcept {
    std::size_t count = event.fields.size();
    for (const field_schema& field : event.fields) {
        count += has_size(field) ? 1 : 0;
    }
    return count;
}

event_names name_event(const provider_schema& schema, const event_schema& event,
                       unique_names& scope) {
    event_names made;
    made.event = schema.name + "_" + event.name;
    if (count_parameters(event) > parameters_max) {
        made.fields = scope.make(made.event + "_fields");
    }
    unique_names parameters{parameter_reserved_words};
    unique_names members;
    for (const field_schema& field : event.fields) {
        members.reserve(field.name);
    }
    for (const field_schema& field : event.fields) {
        field_names& added = made.all.emplace_back();
        added.field = &field;
        added.parameter = parameters.make(field.name);
    }
    for (field_names& added : made.all) {
        if (has_size(*added.field)) {
            added.size = parameters.make(size_parameter(*added.field, added.parameter));
        }
        if (is_optional(*added.field)) {
            added.presence = members.make("has_" + added.field->name);
        }
    }
    if (const std::size_t pieces = count_variable(event); pieces != 0) {
        made.var_field_size_max = (payload_max - event.fixed_size) / pieces;
    }
    return made;
}

}  // namespace

void check(const located_schema& source) {
    for (std::size_t id = 0; id < source.schema.events.size(); ++id) {
        check_event_name(source, id);
        for (std::size_t i = 0; i < source.schema.events[id].fields.size(); ++i) {
            check_field(source, id, i);
        }
        check_payload_size(source, id);
    }
}

names make_names(const provider_schema& schema, unique_names& scope) {
    names made;
    for (const enumeration_schema& enumeration : schema.enumerations) {
        made.enumerations.push_back(scope.make(schema.name + "_" + enumeration.name));
        made.show_macros.push_back(scope.make(schema.name + "_show_" + enumeration.name));
    }
    for (const event_schema& event : schema.events) {
        made.events.push_back(name_event(schema, event, scope));
    }
    made.show_error = scope.make(schema.name + "_show_errno");
    made.text_size = scope.make(schema.name + "_text_size");
    made.copy_text = scope.make(schema.name + "_copy_text");
    made.bytes_size = scope.make(schema.name + "_bytes_size");
    return made;
}

std::string fold(std::string_view head, const std::vector<std::string>& items,
                 std::string_view tail, std::string_view indent) {
    constexpr std::size_t width = 80;
    // Columns of the last line.
    const auto columns = [](std::string_view text) {
        const std::string_view line = text.substr(text.rfind('\n') + 1);
        return line.size() +
               7 * static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t'));
    };
    std::string made(head);
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::string behind(i + 1 == items.size() ? tail : ",");
        const std::string line = items[i].substr(0, items[i].find('\n'));
        const std::size_t needed = columns(made) + 1 + columns(line) + behind.size();
        if (i != 0 && (needed > width || line.size() != items[i].size())) {
            made += '\n';
            made += indent;
        } else if (i != 0) {
            made += ' ';
        }
        made += items[i];
        made += behind;
    }
    return made;
}

}  // namespace elog::kernel_c
