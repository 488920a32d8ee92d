// SPDX-License-Identifier: MIT
//
// elog gen --lang kernel-c: a header of trace events in the kernel's coding style.
#include <algorithm>
#include <utility>

#include "codegen/kernel_c.hpp"
#include "schema/schema_values.hpp"

namespace elog {
namespace {

using eventlog::field_type;
using eventlog::format;
using kernel_c::event_names;
using kernel_c::field_names;

class kernel_c_generator {
  public:
    kernel_c_generator(const located_schema& source, std::string_view file)
        : schema_(source.schema), file_(file), names_(kernel_c::make_names(schema_, scope_)) {}

    std::string generate();

  private:
    void write_head();
    void write_guarded_types();
    void write_enumeration(std::size_t index);
    void write_helpers();
    void write_struct(std::size_t id);
    void write_event(std::size_t id);
    void write_event_comment(std::size_t id);
    void write_prototype(std::size_t id);
    void write_entry(const event_names& event);
    void write_assignments(const event_names& event);
    void write_value(const event_names& event, const field_names& names);
    void write_var_field(const event_names& event, const field_names& names);
    void write_end();
    void write_assertions();
    [[nodiscard]] std::string type_of_value(const field_schema& field) const;
    [[nodiscard]] std::string declare(const field_names& names) const;
    [[nodiscard]] std::string size_expression(const event_names& event,
                                              const field_names& names) const;
    [[nodiscard]] static std::string source_of(const event_names& event, const std::string& name);
    [[nodiscard]] static std::string describe(const event_names& event, const field_names& names);
    [[nodiscard]] bool any_field(bool (*wanted)(const field_schema&)) const;

    const provider_schema& schema_;
    std::string file_;
    unique_names scope_;
    kernel_c::names names_;
    source_writer out_;
};

/// An IPv4 address that is a number in network byte order.
bool is_address_number(const field_schema& field) {
    return field.format == format::ip_address && field.type == field_type::unsigned_32;
}

/// The fields in the order of the entry.
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

bool kernel_c_generator::any_field(bool (*wanted)(const field_schema&)) const {
    return std::any_of(schema_.events.begin(), schema_.events.end(), [&](const auto& event) {
        return std::any_of(event.fields.begin(), event.fields.end(), wanted);
    });
}

void kernel_c_generator::write_head() {
    const std::string upper = upper_case(schema_.name);
    out_.line("/* SPDX-License-Identifier: GPL-2.0 OR MIT */");
    out_.line("/*");
    out_.line(" * Trace events of the provider {}{}{}", schema_.name,
              schema_.description.empty() ? "" : ": ", comment_text(schema_.description));
    out_.line(" *");
    out_.line(" * Made by elog gen --lang kernel-c. Change the schema and make it anew; this is");
    out_.line(" * overwritten. The hash of the schema is 0x{:016x}.", schema_.hash);
    out_.line(" *");
    out_.line(" * This file is {}.h, in a folder that the module's Kbuild names with", file_);
    out_.line(" * ccflags-y += -I$(src). One source of the module defines CREATE_TRACE_POINTS in");
    out_.line(" * front of the line that includes it. Then trace_{}_EVENT() may be called from any",
              schema_.name);
    out_.line(" * context, and costs a jump that is not taken while nobody listens.");
    if (has_variable(schema_)) {
        out_.line(" *");
        out_.line(
            " * Texts end with a NUL. One that is too long for a trace event is cut, and ends in");
        out_.line(" * dots; a byte string that is too long is cut to the size that is said there.");
    }
    if (any_field(is_optional)) {
        out_.line(" *");
        out_.line(" * Optional fields are passed by pointer: NULL is no value.");
    }
    out_.line(" */");
    out_.line("#undef TRACE_SYSTEM");
    out_.line("#define TRACE_SYSTEM eventlog");
    out_.line("#undef TRACE_SYSTEM_VAR");
    out_.line("#define TRACE_SYSTEM_VAR eventlog_{}", schema_.name);
    out_.line();
    out_.line("#if !defined(_TRACE_EVENTLOG_{}_H) || defined(TRACE_HEADER_MULTI_READ)", upper);
    out_.line("#define _TRACE_EVENTLOG_{}_H", upper);
    out_.line();
    out_.line("#include <linux/errno.h>");
    out_.line("#include <linux/minmax.h>");
    out_.line("#include <linux/string.h>");
    out_.line("#include <linux/tracepoint.h>");
    out_.line("#include <linux/types.h>");
    out_.line();
}

void kernel_c_generator::write_enumeration(std::size_t index) {
    const enumeration_schema& enumeration = schema_.enumerations[index];
    const std::string prefix = upper_case(schema_.name + "_" + enumeration.name);
    const auto type = type_of_enumeration(schema_, index);
    if (fits_int(enumeration)) {
        out_.line("enum {} {{", names_.enumerations[index]);
    } else {
        out_.line("/* {}{} */", enumeration.name,
                  enumeration.combines ? ": these are combined with |" : "");
    }
    for (const auto& [value, name] : enumeration.values) {
        const std::string constant = scope_.make(prefix + "_" + upper_case(name));
        const auto number = static_cast<std::int64_t>(value);
        const bool wide = !type || eventlog::size_of(*type) == 8;
        if (fits_int(enumeration)) {
            out_.line("\t{} = {},", constant, number);
        } else if (enumeration.combines || number >= 0 || !type || !is_signed(*type)) {
            const std::uint64_t bits = wide ? value : value & 0xffffffff;
            out_.line("#define {}\t0x{:x}{}", constant, bits, wide ? "ULL" : "U");
        } else if (value == std::uint64_t{1} << 63U) {
            out_.line("#define {}\t({}LL - 1)", constant, number + 1);
        } else {
            out_.line("#define {}\t({}LL)", constant, number);
        }
    }
    if (fits_int(enumeration)) {
        out_.line("}};");
    }
    out_.line();
}

void kernel_c_generator::write_helpers() {
    if (any_field([](const auto& field) { return field.type == field_type::text; })) {
        out_.append(fmt::format(R"(/* What a text takes, with its NUL: nothing if it is NULL. */
static inline size_t {0}(const char *text, size_t max)
{{
	return text ? min(strnlen(text, max) + 1, max) : 0;
}}

/* One of the size max is cut between two characters of UTF-8, and ends in dots. */
static inline void {1}(char *to, const char *text, size_t size, size_t max)
{{
	size_t kept = size < max ? size - 1 : max - 4;

	if (!size)
		return;
	while (size == max && kept > max - 7 && (text[kept] & 0xc0) == 0x80)
		kept--;
	memcpy(to, text, kept);
	memset(to + kept, '.', size - 1 - kept);
	to[size - 1] = '\0';
}}

)",
                                names_.text_size, names_.copy_text));
    }
    if (any_field([](const auto& field) { return field.type == field_type::bytes; })) {
        out_.append(
            fmt::format(R"(static inline size_t {0}(const void *data, size_t size, size_t max)
{{
	return data ? min(size, max) : 0;
}}

)",
                        names_.bytes_size));
    }
    if (any_field(is_address_number)) {
        out_.append(R"(/* Where a byte of an address in network byte order stands in its number. */
#ifdef __BIG_ENDIAN
#define EVENTLOG_IP4_SHIFT(byte) (24 - 8 * (byte))
#else
#define EVENTLOG_IP4_SHIFT(byte) (8 * (byte))
#endif

)");
    }
}

/// The part that the compiler must read once; the kernel includes the trace events several times.
void kernel_c_generator::write_guarded_types() {
    const std::string guard = "_EVENTLOG_" + upper_case(schema_.name) + "_TYPES";
    out_.line("#ifndef {}", guard);
    out_.line("#define {}", guard);
    out_.line();
    for (std::size_t i = 0; i < schema_.enumerations.size(); ++i) {
        if (!schema_.enumerations[i].values.empty()) {
            write_enumeration(i);
        }
    }
    for (std::size_t id = 0; id < schema_.events.size(); ++id) {
        if (!names_.events[id].fields.empty()) {
            write_struct(id);
        }
    }
    write_helpers();
    kernel_c::write_show_macros(out_, schema_, names_);
    out_.line("#endif /* {} */", guard);
    out_.line();
}

std::string kernel_c_generator::type_of_value(const field_schema& field) const {
    if (field.enumeration != eventlog::no_index && field.count == 1 &&
        fits_int(schema_.enumerations[field.enumeration])) {
        return "enum " + names_.enumerations[field.enumeration];
    }
    if (field.type == field_type::bytes) {
        return "void";
    }
    return is_address_number(field) ? "__be32" : std::string(kernel_c::c_type(field.type));
}

/// A parameter or a member of a struct. Arrays are pointers: BPF's macros use sizeof(parameter).
std::string kernel_c_generator::declare(const field_names& names) const {
    const field_schema& field = *names.field;
    const bool by_pointer = is_variable(field) || is_optional(field) || field.count != 1;
    return fmt::format("{}{} {}{}", by_pointer ? "const " : "", type_of_value(field),
                       by_pointer ? "*" : "", names.parameter);
}

/// The kernel-doc text of a parameter.
std::string kernel_c_generator::describe(const event_names& event, const field_names& names) {
    const field_schema& field = *names.field;
    std::string said = comment_text(field.description);
    const auto add = [&](const std::string& text) { said += (said.empty() ? "" : ", ") + text; };
    if (field.count != 1) {
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
        add(fmt::format("a text of up to {} bytes", event.var_field_size_max - 2));
    } else if (field.type == field_type::bytes) {
        add(fmt::format("up to {} bytes", event.var_field_size_max));
    }
    if (is_optional(field)) {
        add("NULL is no value");
    }
    return said.empty() ? std::string(name_of(field.type)) : said;
}

/// The expression for an argument of the caller in TP_STRUCT__entry and TP_fast_assign.
std::string kernel_c_generator::source_of(const event_names& event, const std::string& name) {
    return event.fields.empty() ? name : "fields->" + name;
}

void kernel_c_generator::write_struct(std::size_t id) {
    const event_names& event = names_.events[id];
    out_.line("/**");
    out_.line(" * struct {} - the fields of trace_{}()", event.fields, event.event);
    for (const field_names& names : event.all) {
        out_.line(" * @{}: {}", names.parameter, describe(event, names));
        if (!names.size.empty()) {
            out_.line(" * @{}: its size in bytes", names.size);
        }
    }
    out_.line(" */");
    out_.line("struct {} {{", event.fields);
    for (const field_names& names : event.all) {
        out_.line("\t{};", declare(names));
        if (!names.size.empty()) {
            out_.line("\tsize_t {};", names.size);
        }
    }
    out_.line("}};");
    out_.line();
}

void kernel_c_generator::write_event_comment(std::size_t id) {
    const event_schema& event = schema_.events[id];
    const event_names& names = names_.events[id];
    const std::string short_text = comment_text(event.description);
    out_.line("/**");
    out_.line(" * {} - {}", names.event,
              short_text.empty() ? fmt::format("event {} of {}", event.name, schema_.name)
                                 : short_text);
    if (!names.fields.empty()) {
        out_.line(" * @fields: what there is to say");
    } else if (event.fields.empty()) {
        out_.line(" * @unused: a tracepoint has a parameter; pass 0");
    }
    for (const field_names& field : names.all) {
        if (names.fields.empty()) {
            out_.line(" * @{}: {}", field.parameter, describe(names, field));
            if (!field.size.empty()) {
                out_.line(" * @{}: its size in bytes", field.size);
            }
        }
    }
    out_.line(" *");
    if (!event.meaning.empty()) {
        out_.line(" * Logged when {}.", comment_text(event.meaning));
    }
    std::string said = fmt::format("Level {}", name_of(event.severity));
    if (event.kind != eventlog::kind::instant) {
        said += fmt::format(", kind {}", name_of(event.kind));
    }
    const char* before = ", keywords ";
    for (const auto& [bit, name] : schema_.keywords) {
        if ((event.keywords >> bit & 1U) != 0) {
            said += before + name;
            before = " ";
        }
    }
    out_.line(" * {}{}.", said, event.session_bound ? "; of the session that it begins with" : "");
    out_.line(" */");
}

void kernel_c_generator::write_prototype(std::size_t id) {
    const event_names& event = names_.events[id];
    std::vector<std::string> prototype;
    std::vector<std::string> arguments;
    if (!event.fields.empty()) {
        prototype.push_back(fmt::format("const struct {} *fields", event.fields));
        arguments.emplace_back("fields");
    } else if (event.all.empty()) {
        prototype.emplace_back("int unused");
        arguments.emplace_back("unused");
    }
    for (const field_names& names : event.all) {
        if (event.fields.empty()) {
            prototype.push_back(declare(names));
            arguments.push_back(names.parameter);
            if (!names.size.empty()) {
                prototype.push_back("size_t " + names.size);
                arguments.push_back(names.size);
            }
        }
    }
    out_.line("{}", kernel_c::fold("\tTP_PROTO(", prototype, "),", "\t\t "));
    out_.line();
    out_.line("{}", kernel_c::fold("\tTP_ARGS(", arguments, "),", "\t\t"));
    out_.line();
}

std::string kernel_c_generator::size_expression(const event_names& event,
                                                const field_names& names) const {
    const std::string from = source_of(event, names.parameter);
    if (names.field->type == field_type::text) {
        return fmt::format("{}({}, {})", names_.text_size, from, event.var_field_size_max);
    }
    return fmt::format("{}({}, {}, {})", names_.bytes_size, from, source_of(event, names.size),
                       event.var_field_size_max);
}

void kernel_c_generator::write_entry(const event_names& event) {
    out_.line("\tTP_STRUCT__entry(");
    for (const field_names* names : in_payload_order(event)) {
        const field_schema& field = *names->field;
        const std::string_view type = kernel_c::c_type(field.type);
        if (is_variable(field)) {
            out_.line("\t\t__dynamic_array({}, {}, {})", type, field.name,
                      size_expression(event, *names));
        } else if (field.count != 1) {
            out_.line("\t\t__array({}, {}, {})", type, field.name, field.count);
        } else {
            out_.line("\t\t__field({}, {})", type, field.name);
        }
    }
    for (const field_names& names : event.all) {
        if (!names.presence.empty()) {
            out_.line("\t\t__field(bool, {})", names.presence);
        }
    }
    out_.line("\t),");
    out_.line();
}

void kernel_c_generator::write_var_field(const event_names& event, const field_names& names) {
    const std::string& name = names.field->name;
    const std::string from = source_of(event, names.parameter);
    if (names.field->type == field_type::text) {
        out_.line("\t\t{}(__get_str({}), {},", names_.copy_text, name, from);
        out_.line("\t\t\t__get_dynamic_array_len({}), {});", name, event.var_field_size_max);
        out_.line("\t\tif (!{})", from);
    } else {
        out_.line("\t\tmemcpy(__get_dynamic_array({}), {},", name, from);
        out_.line("\t\t       __get_dynamic_array_len({}));", name);
        out_.line("\t\tif (!__get_dynamic_array_len({}))", name);
    }
    out_.line("\t\t\t__entry->__data_loc_{} = 0;", name);
}

void kernel_c_generator::write_value(const event_names& event, const field_names& names) {
    const field_schema& field = *names.field;
    const std::string to = "__entry->" + field.name;
    const std::string from = source_of(event, names.parameter);
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

void kernel_c_generator::write_assignments(const event_names& event) {
    out_.line("\tTP_fast_assign(");
    for (const field_names& names : event.all) {
        if (is_variable(*names.field)) {
            write_var_field(event, names);
        } else {
            write_value(event, names);
        }
        if (!names.presence.empty()) {
            out_.line("\t\t__entry->{} = {};", names.presence,
                      source_of(event, names.parameter) + " != NULL");
        }
    }
    out_.line("\t),");
    out_.line();
}

void kernel_c_generator::write_event(std::size_t id) {
    const event_names& event = names_.events[id];
    write_event_comment(id);
    out_.line("TRACE_EVENT({},", event.event);
    out_.line();
    write_prototype(id);
    write_entry(event);
    write_assignments(event);
    out_.line("\t{}", kernel_c::make_printk(schema_, names_, id));
    out_.line(");");
    out_.line();
}

/// One decoder reads the payloads of all routes, so the compiler must have used the schema's
/// offsets.
void kernel_c_generator::write_assertions() {
    out_.line("/*");
    out_.line(
        " * Behind struct trace_entry stands what the schema says, byte for byte; only texts and");
    out_.line(" * byte strings count their offset from the beginning of the entry.");
    out_.line(" */");
    out_.line("#if defined(CREATE_TRACE_POINTS) && defined(TRACEPOINTS_ENABLED)");
    out_.line("#undef EVENTLOG_FIELD_AT");
    out_.line("#define EVENTLOG_FIELD_AT(event, field, offset, size)\t\t\t\\");
    out_.line("\tstatic_assert(offsetof(struct trace_event_raw_##event, field) ==\t\\");
    out_.line("\t\t      sizeof(struct trace_entry) + (offset));\t\t\\");
    out_.line("\tstatic_assert(sizeof_field(struct trace_event_raw_##event, field) == (size))");
    out_.line();
    for (std::size_t id = 0; id < schema_.events.size(); ++id) {
        const event_names& event = names_.events[id];
        for (const field_names* names : in_payload_order(event)) {
            const field_schema& field = *names->field;
            out_.line("EVENTLOG_FIELD_AT({}, {}{}, {}, {});", event.event,
                      is_variable(field) ? "__data_loc_" : "", field.name, field.offset,
                      eventlog::size_of(field.type) * field.count);
        }
        for (const field_names& names : event.all) {
            if (!names.presence.empty()) {
                out_.line("EVENTLOG_FIELD_AT({}, {}, {}, 1);", event.event, names.presence,
                          names.field->presence);
            }
        }
        out_.line("static_assert(offsetof(struct trace_event_raw_{}, __data) ==", event.event);
        out_.line("\t      sizeof(struct trace_entry) + {});", schema_.events[id].fixed_size);
    }
    out_.line("#endif");
}

void kernel_c_generator::write_end() {
    out_.line("#endif /* _TRACE_EVENTLOG_{}_H */", upper_case(schema_.name));
    out_.line();
    out_.line("/* This part must be outside of the protection against being read twice. */");
    out_.line("#undef TRACE_INCLUDE_PATH");
    out_.line("#define TRACE_INCLUDE_PATH .");
    out_.line("#undef TRACE_INCLUDE_FILE");
    out_.line("#define TRACE_INCLUDE_FILE {}", file_);
    out_.line("#include <trace/define_trace.h>");
    out_.line();
}

std::string kernel_c_generator::generate() {
    write_head();
    write_guarded_types();
    for (std::size_t id = 0; id < schema_.events.size(); ++id) {
        write_event(id);
    }
    write_end();
    write_assertions();
    return out_.take();
}

}  // namespace

std::string generate_kernel_c(const located_schema& source, std::string_view file) {
    kernel_c::check(source);
    return kernel_c_generator(source, file).generate();
}

}  // namespace elog
