// SPDX-License-Identifier: MIT
//
// elog schema gen --lang c: a header for C11.
#include <limits>
#include <vector>

#include "codegen/c_templates.hpp"
#include "codegen/generate.hpp"
#include "codegen/source_text.hpp"

namespace elog {
namespace {

using eventlog::field_type;

/// Keywords, macros of common headers, and local names of the generated functions.
constexpr std::string_view c_reserved_words =
    " auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while _Alignas _Alignof _Atomic _Bool _Complex _Generic "
    "_Noreturn asm typeof bool true false NULL errno stdin stdout stderr linux unix complex I "
    "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t memcpy strlen "
    "payload pieces end value flags units alignas alignof constexpr nullptr offset thread_local "
    "environ eventlog_emit_raw eventlog_emit_raw_parts _Imaginary _Static_assert _Thread_local "
    "static_assert ";

/// Names of an event's functions and their parameters.
struct c_event_names {
    std::string emit;
    std::string enabled;
    std::string emit_enabled;
    std::vector<std::string> fields;
    std::vector<std::string> sizes;  // of byte strings and sequences; else empty
};

class c_generator {
  public:
    explicit c_generator(const located_schema& source)
        : schema_(source.schema),
          prefix_(schema_.name),
          file_scope_(c_reserved_words, macro_policy::avoided) {
        for (const char* own : {"gate", "provider", "schema", "register", "unregister", "handle",
                                "put_word", "cut_longest"}) {
            file_scope_.reserve(prefix_ + "_" + own);
        }
        for (const char* own : {"GATE_ALIGNMENT", "GATE_SIZE", "HIDDEN"}) {
            file_scope_.reserve(upper_case(prefix_) + "_" + own);
        }
    }

    std::string generate();

  private:
    void assign_names();
    void write_enumeration(const enumeration_schema& enumeration, std::size_t index);
    void write_event(std::size_t id);
    void write_emit_enabled(std::size_t id);
    void write_var_fields(std::size_t id);
    void write_value(const field_schema& field, const std::string& name);
    [[nodiscard]] bool takes_enum(const field_schema& field) const;
    [[nodiscard]] std::string parameters(std::size_t id) const;
    [[nodiscard]] std::string arguments(std::size_t id) const;

    const provider_schema& schema_;
    std::string prefix_;
    unique_names file_scope_;
    std::vector<std::string> enumerations_;
    std::vector<c_event_names> events_;
    source_writer out_;
};

void c_generator::assign_names() {
    for (const enumeration_schema& enumeration : schema_.enumerations) {
        enumerations_.push_back(file_scope_.make(prefix_ + "_" + enumeration.name));
    }
    for (const event_schema& event : schema_.events) {
        c_event_names names;
        names.emit = file_scope_.make(prefix_ + "_" + event.name);
        names.enabled = file_scope_.make(names.emit + "_enabled");
        names.emit_enabled = file_scope_.make(names.emit + "_now");
        unique_names parameters(c_reserved_words, macro_policy::avoided);
        for (const char* used : {"gate", "provider", "put_word", "cut_longest", "handle"}) {
            parameters.reserve(prefix_ + "_" + used);
        }
        parameters.reserve(names.emit_enabled);
        for (const field_schema& field : event.fields) {
            names.fields.push_back(parameters.make(field.name));
        }
        for (std::size_t i = 0; i < event.fields.size(); ++i) {
            const field_schema& field = event.fields[i];
            names.sizes.push_back(
                has_size(field) ? parameters.make(size_parameter(field, names.fields[i])) : "");
        }
        events_.push_back(std::move(names));
    }
}

void c_generator::write_enumeration(const enumeration_schema& enumeration, std::size_t index) {
    const std::string prefix = upper_case(prefix_ + "_" + enumeration.name);
    if (fits_int(enumeration)) {
        out_.line("enum {} {{", enumerations_[index]);
        for (const auto& [value, name] : enumeration.values) {
            out_.line("    {} = {},", file_scope_.make(prefix + "_" + upper_case(name)),
                      value == static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::min())
                          ? "-2147483647 - 1"
                          : fmt::format("{}", static_cast<std::int64_t>(value)));
        }
        out_.line("}};");
    } else {
        out_.line("/* {}{} */", enumeration.name,
                  enumeration.is_bitmask ? ": these are combined with |" : "");
        const auto type = type_of_enumeration(schema_, index);
        for (const auto& [value, name] : enumeration.values) {
            const std::string constant = file_scope_.make(prefix + "_" + upper_case(name));
            if (!type) {
                out_.line("#define {} UINT64_C(0x{:x})", constant, value);
            } else if (value == std::uint64_t{1} << 63U && *type == field_type::signed_64) {
                out_.line("#define {} INT64_MIN", constant);
            } else {
                out_.line("#define {} (({}){}{})", constant, spelling_of(*type).c,
                          number_text(value, *type), *type == field_type::unsigned_64 ? "U" : "");
            }
        }
    }
    out_.line();
}

bool c_generator::takes_enum(const field_schema& field) const {
    return field.enumeration != schema_format::no_index && field.count == 1 &&
           fits_int(schema_.enumerations[field.enumeration]);
}

std::string c_generator::parameters(std::size_t id) const {
    const event_schema& event = schema_.events[id];
    std::vector<std::string> all;
    for (std::size_t i = 0; i < event.fields.size(); ++i) {
        const field_schema& field = event.fields[i];
        const std::string& name = events_[id].fields[i];
        const std::string type = takes_enum(field) ? "enum " + enumerations_[field.enumeration]
                                                   : std::string(spelling_of(field.type).c);
        if (!is_variable(field) && field.count != 1) {
            all.push_back(fmt::format("const {} {}[{}]", type, name, field.count));
        } else if (is_variable(field) || is_optional(field)) {
            all.push_back(fmt::format("const {}* {}", type, name));
        } else {
            all.push_back(fmt::format("{} {}", type, name));
        }
        if (has_size(field)) {
            all.push_back("size_t " + events_[id].sizes[i]);
        }
    }
    return all.empty() ? "void" : comma_list(all);
}

std::string c_generator::arguments(std::size_t id) const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < events_[id].fields.size(); ++i) {
        all.push_back(events_[id].fields[i]);
        if (!events_[id].sizes[i].empty()) {
            all.push_back(events_[id].sizes[i]);
        }
    }
    return comma_list(all);
}

/// Writes a field of known size into the fixed part.
void c_generator::write_value(const field_schema& field, const std::string& name) {
    const bool by_pointer = field.count != 1 || is_optional(field);
    const std::string_view type = spelling_of(field.type).c;
    const std::string from =
        takes_enum(field) ? fmt::format("&({0}){{({0}){1}{2}}}", type, by_pointer ? "*" : "", name)
                          : (by_pointer ? "" : "&") + name;
    const std::string copy =
        fmt::format("memcpy(payload + {}, {}, {});", field.offset, from, fixed_size_of(field));
    if (is_optional(field)) {
        out_.line("    if ({} != NULL) {{", name);
        out_.line("        {}", copy);
        out_.line("    }}");
    } else {
        out_.line("    {}", copy);
    }
}

/// A text is two pieces, characters and NUL, so that a cut text ends with a NUL, too.
void c_generator::write_var_fields(std::size_t id) {
    const event_schema& event = schema_.events[id];
    const c_event_names& names = events_[id];
    out_.line("    struct eventlog_part pieces[] = {{");
    out_.line("        {{payload, {}}},", event.fixed_size);
    std::string units = "1";
    for (std::size_t i = 0; i < event.fields.size(); ++i) {
        const std::string& name = names.fields[i];
        const field_schema& field = event.fields[i];
        if (field.type == field_type::text) {
            out_.line("        {{{0} == NULL ? \"\" : {0}, {0} == NULL ? 0 : strlen({0})}},", name);
            out_.line("        {{\"\", {} == NULL ? 0 : 1}},", name);
            units += ", 0, 1";
        } else if (is_sequence(field)) {
            out_.line("        {{{0} == NULL ? (const void*)\"\" : {0},", name);
            out_.line("         {0} == NULL ? 0 : {1} * sizeof *{0}}},", name, names.sizes[i]);
            units += fmt::format(", {}", element_size(field));
        } else if (field.type == field_type::bytes) {
            out_.line("        {{{0} == NULL ? \"\" : {0}, {0} == NULL ? 0 : {1}}},", name,
                      names.sizes[i]);
            units += ", 1";
        }
    }
    out_.line("    }};");
    if (event.truncates) {
        out_.line("    static const uint8_t units[] = {{{}}};", units);
        out_.line("    const uint32_t flags = {}_cut_longest(pieces, units, sizeof pieces / sizeof "
                  "*pieces);",
                  prefix_);
    }
    out_.line("    size_t end = {};", event.fixed_size);
    std::size_t piece = 1;
    for (const field_schema& field : event.fields) {
        if (field.type == field_type::text) {
            out_.line("    {}_put_word(payload, {}, pieces[{}].size + pieces[{}].size, &end);",
                      prefix_, field.offset, piece, piece + 1);
            piece += 2;
        } else if (is_variable(field)) {
            out_.line("    {}_put_word(payload, {}, pieces[{}].size, &end);", prefix_, field.offset,
                      piece);
            piece += 1;
        }
    }
    out_.line(
        "    eventlog_emit_raw_parts({}_handle(), {}, pieces, sizeof pieces / sizeof *pieces, {});",
        prefix_, id, event.truncates ? "flags" : "0");
}

/// The part behind the gate, out of line.
void c_generator::write_emit_enabled(std::size_t id) {
    const event_schema& event = schema_.events[id];
    out_.line("__attribute__((noinline, unused))");
    out_.line("{}",
              wrap(fmt::format("static void {}({}) {{", events_[id].emit_enabled, parameters(id))));
    if (event.fields.empty()) {
        out_.line("    eventlog_emit_raw({}_handle(), {}, NULL, 0);", prefix_, id);
        out_.line("}}");
        return;
    }
    // The bytes behind the payload, up to a multiple of 8, must be zero.
    out_.line("    unsigned char payload[{}] = {{0}};", (event.fixed_size + 7) / 8 * 8);
    for (std::size_t i = 0; i < event.fields.size(); ++i) {
        if (!is_variable(event.fields[i])) {
            write_value(event.fields[i], events_[id].fields[i]);
        }
        if (is_optional(event.fields[i])) {
            out_.line("    payload[{}] = {} != NULL;", event.fields[i].presence,
                      events_[id].fields[i]);
        }
    }
    if (count_variable(event) == 0) {
        out_.line("    eventlog_emit_raw({}_handle(), {}, payload, {});", prefix_, id,
                  event.fixed_size);
    } else {
        write_var_fields(id);
    }
    out_.line("}}");
}

void c_generator::write_event(std::size_t id) {
    const event_schema& event = schema_.events[id];
    const c_event_names& names = events_[id];
    write_emit_enabled(id);
    out_.format(c_templates::enabled, event.name, names.enabled, prefix_, id);
    out_.line("/*");
    out_.line(" * {}", describe_emit(event));
    write_field_descriptions(out_, event, " *   ");
    out_.line(" */");
    out_.line("{}", wrap(fmt::format("static inline void {}({}) {{", names.emit, parameters(id))));
    out_.line("    if (__builtin_expect({}(), 0)) {{", names.enabled);
    out_.line("{}", wrap(fmt::format("        {}({});", names.emit_enabled, arguments(id))));
    out_.line("    }}");
    out_.line("}}");
    out_.line();
}

std::string c_generator::generate() {
    assign_names();
    const std::string upper = upper_case(prefix_);
    out_.format(c_templates::head, describe_item(schema_), schema_.hash, upper);
    for (std::size_t i = 0; i < schema_.enumerations.size(); ++i) {
        write_enumeration(schema_.enumerations[i], i);
    }
    out_.format(c_templates::registration, prefix_, upper, schema_.binary.size(),
                format_byte_list(schema_.binary, 4), schema_.events.size());
    if (any_field(schema_, is_variable)) {
        out_.format(c_templates::put_word, prefix_);
    }
    if (has_truncated_events(schema_)) {
        out_.format(c_templates::cut_longest, prefix_);
    }
    for (std::size_t id = 0; id < schema_.events.size(); ++id) {
        write_event(id);
    }
    out_.line("#endif");
    return out_.take();
}

}  // namespace

std::string generate_c(const located_schema& source) {
    return c_generator(source).generate();
}

}  // namespace elog
