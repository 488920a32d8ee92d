// SPDX-License-Identifier: MIT
//
// elog schema gen --lang rust: a module without crates.
#include <vector>

#include "codegen/generate.hpp"
#include "codegen/rust_templates.hpp"
#include "codegen/source_text.hpp"

namespace elog {
namespace {

using eventlog::field_type;

/// Keywords and the module's own names.
constexpr std::string_view rust_reserved_words =
    " _ as async await become box break const continue crate do dyn else enum extern false final "
    "fn for gen if impl in let loop macro match mod move mut override priv pub ref return self "
    "Self static struct super trait true try type typeof unsafe unsized use virtual where while "
    "yield union abstract u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 usize bool str payload parts end "
    "flags pieces value element index std register unregister handle put_word cut_longest Option "
    "Some None Definition Piece Part Gate GATE GATE_SIZE CLOSED HANDLE SCHEMA REGISTER UNREGISTER "
    "AtomicU32 AtomicPtr Ordering c_void ptr core Copy Clone Debug PartialEq Eq "
    "eventlog_has_listener eventlog_emit_raw eventlog_emit_raw_parts "
    "eventlog_raw_provider_register "
    "eventlog_raw_provider_unregister drop PAYLOAD_SIZE_MAX ";

std::string_view rust_type(field_type type) {
    switch (type) {
        case field_type::character:
            return "u8";
        case field_type::text:
            return "&str";
        case field_type::bytes:
            return "&[u8]";
        default:
            return name_of(type);  // the same in Rust: bool, u8, f32, ...
    }
}

struct rust_event_names {
    std::string emit;
    std::string enabled;
    std::string emit_enabled;
    std::vector<std::string> fields;
};

class rust_generator {
  public:
    explicit rust_generator(const located_schema& source)
        : schema_(source.schema), scope_(rust_reserved_words) {}

    std::string generate();

  private:
    [[nodiscard]] bool is_enum(std::size_t enumeration) const;
    void assign_names();
    void write_enumeration(std::size_t index);
    void write_event(std::size_t id);
    void write_emit_enabled(std::size_t id);
    void write_value(const field_schema& field, const std::string& name);
    void write_parts(std::size_t id);
    [[nodiscard]] std::string type_of(const field_schema& field) const;
    [[nodiscard]] std::string bytes_of(const field_schema& field, const std::string& value) const;
    [[nodiscard]] std::string parameters(std::size_t id) const;

    const provider_schema& schema_;
    unique_names scope_;
    std::vector<std::string> enumerations_;
    std::vector<rust_event_names> events_;
    source_writer out_;
};

bool rust_generator::is_enum(std::size_t enumeration) const {
    const enumeration_schema& described = schema_.enumerations[enumeration];
    return !described.is_bitmask && !described.values.empty() &&
           type_of_enumeration(schema_, enumeration).has_value();
}

void rust_generator::assign_names() {
    for (std::size_t i = 0; i < schema_.enumerations.size(); ++i) {
        const std::string& name = schema_.enumerations[i].name;
        enumerations_.push_back(scope_.make(is_enum(i) ? camel_case(name) : name));
    }
    for (const event_schema& event : schema_.events) {
        rust_event_names names;
        names.emit = scope_.make(event.name);
        names.enabled = scope_.make(names.emit + "_enabled");
        names.emit_enabled = scope_.make(names.emit + "_now");
        unique_names parameters(rust_reserved_words);
        parameters.reserve(names.emit_enabled);
        parameters.reserve(names.enabled);
        for (const field_schema& field : event.fields) {
            names.fields.push_back(parameters.make(field.name));
        }
        events_.push_back(std::move(names));
    }
}

void rust_generator::write_enumeration(std::size_t index) {
    const enumeration_schema& enumeration = schema_.enumerations[index];
    const auto type = type_of_enumeration(schema_, index);
    unique_names names(rust_reserved_words);
    if (is_enum(index)) {
        out_.line("#[repr({})]", rust_type(*type));
        out_.line("#[derive(Clone, Copy, Debug, PartialEq, Eq)]");
        out_.line("pub enum {} {{", enumerations_[index]);
        for (const auto& [value, name] : enumeration.values) {
            out_.line("    {} = {},", names.make(camel_case(name)), number_text(value, *type));
        }
    } else {
        out_.line("pub mod {} {{", enumerations_[index]);
        for (const auto& [value, name] : enumeration.values) {
            out_.line("    pub const {}: {} = {};", names.make(upper_case(name)),
                      type ? rust_type(*type) : "i64",
                      number_text(value, type.value_or(field_type::signed_64)));
        }
    }
    out_.line("}}");
    out_.line();
}

std::string rust_generator::type_of(const field_schema& field) const {
    std::string type(rust_type(field.type));
    if (field.enumeration != schema_format::no_index && is_enum(field.enumeration)) {
        type = enumerations_[field.enumeration];
    }
    if (is_sequence(field)) {
        type = fmt::format("&[{}]", type);
    } else if (field.count != 1) {
        type = fmt::format("&[{}; {}]", type, field.count);
    }
    return is_optional(field) ? fmt::format("Option<{}>", type) : type;
}

std::string rust_generator::parameters(std::size_t id) const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < events_[id].fields.size(); ++i) {
        all.push_back(events_[id].fields[i] + ": " + type_of(schema_.events[id].fields[i]));
    }
    return comma_list(all);
}

std::string rust_generator::bytes_of(const field_schema& field, const std::string& value) const {
    const bool is_number =
        field.enumeration == schema_format::no_index || !is_enum(field.enumeration);
    if (field.type == field_type::boolean || !is_number) {
        const std::string_view type = is_number ? "u8" : rust_type(field.type);
        return fmt::format("({} as {}).to_ne_bytes()", value, type);
    }
    return value + ".to_ne_bytes()";
}

/// Writes a field of known size into the fixed part.
void rust_generator::write_value(const field_schema& field, const std::string& name) {
    const std::size_t size = eventlog::size_of(field.type);
    const std::string indent = is_optional(field) ? "        " : "    ";
    const std::string value = is_optional(field) ? "value" : name;
    if (is_optional(field)) {
        out_.line("    if let Some(value) = {} {{", name);
    }
    if (field.count != 1) {
        out_.line("{}for (index, &element) in {}.iter().enumerate() {{", indent, value);
        out_.line("{}    payload[{} + {} * index..][..{}].copy_from_slice(&{});", indent,
                  field.offset, size, size, bytes_of(field, "element"));
        out_.line("{}}}", indent);
    } else {
        out_.line("{}payload[{}..{}].copy_from_slice(&{});", indent, field.offset,
                  field.offset + size, bytes_of(field, value));
    }
    if (is_optional(field)) {
        out_.line("        payload[{}] = 1;", field.presence);
        out_.line("    }}");
    }
}

void rust_generator::write_parts(std::size_t id) {
    const event_schema& event = schema_.events[id];
    out_.line("    let {}parts = [", event.truncates ? "mut " : "");
    for (std::size_t i = 0; i < event.fields.size(); ++i) {
        const field_schema& field = event.fields[i];
        if (is_variable(field)) {
            const std::string& name = events_[id].fields[i];
            const std::string_view made = is_sequence(field)               ? "elements"
                                          : field.type == field_type::text ? "text"
                                                                           : "bytes";
            out_.line("        Part::{}({}),", made,
                      is_optional(field) ? name : fmt::format("Some({})", name));
        }
    }
    out_.line("    ];");
    if (event.truncates) {
        out_.line("    let flags = cut_longest(&mut parts, {});", event.fixed_size);
    }
    out_.line("    let mut end = {};", event.fixed_size);
    std::size_t part = 0;
    for (std::size_t i = 0; i < event.fields.size(); ++i) {
        const field_schema& field = event.fields[i];
        if (!is_variable(field)) {
            continue;
        }
        out_.line("    put_word(&mut payload, {}, parts[{}].size(), &mut end);", field.offset,
                  part++);
        if (is_optional(field)) {
            out_.line("    payload[{}] = {}.is_some() as u8;", field.presence,
                      events_[id].fields[i]);
        }
    }
    out_.line("    let pieces = [");
    out_.line("        Piece::of(&payload[..{}]),", event.fixed_size);
    for (std::size_t i = 0; i < part; ++i) {
        out_.line("        Piece::of(parts[{}].bytes),", i);
        out_.line("        Piece::of(parts[{}].nul),", i);
    }
    out_.line("    ];");
    out_.line("    // SAFETY: the pieces are alive; the handle is one or null, which is ignored.");
    out_.line(
        "    unsafe {{ eventlog_emit_raw_parts(handle(), {}, pieces.as_ptr(), pieces.len(), {}) "
        "}}",
        id, event.truncates ? "flags" : "0");
}

/// The part behind the gate, out of line.
void rust_generator::write_emit_enabled(std::size_t id) {
    const event_schema& event = schema_.events[id];
    out_.line("#[inline(never)]");
    out_.line("{}", wrap(fmt::format("fn {}({}) {{", events_[id].emit_enabled, parameters(id))));
    if (event.fields.empty()) {
        out_.line(
            "    // SAFETY: there is no payload; the handle is one or null, which is ignored.");
        out_.line("    unsafe {{ eventlog_emit_raw(handle(), {}, ptr::null(), 0) }}", id);
        out_.line("}}");
        return;
    }
    // The bytes behind the payload, up to a multiple of 8, must be zero.
    out_.line("    let mut payload = [0u8; {}];", (event.fixed_size + 7) / 8 * 8);
    for (std::size_t i = 0; i < event.fields.size(); ++i) {
        if (!is_variable(event.fields[i])) {
            write_value(event.fields[i], events_[id].fields[i]);
        }
    }
    if (count_variable(event) != 0) {
        write_parts(id);
    } else {
        out_.line(
            "    // SAFETY: the payload is that long, and zero behind it; the handle is one or "
            "null.");
        out_.line("    unsafe {{ eventlog_emit_raw(handle(), {}, payload.as_ptr(), {}) }}", id,
                  event.fixed_size);
    }
    out_.line("}}");
}

void rust_generator::write_event(std::size_t id) {
    const event_schema& event = schema_.events[id];
    const rust_event_names& names = events_[id];
    out_.line();
    write_emit_enabled(id);
    out_.format(rust_templates::enabled, event.name, names.enabled, id);
    out_.line("/// {}", describe_emit(event));
    write_field_descriptions(out_, event, "/// - ");
    out_.line("#[inline(always)]");
    out_.line("{}", wrap(fmt::format("pub fn {}({}) {{", names.emit, parameters(id))));
    out_.line("    if {}() {{", names.enabled);
    out_.line("{}",
              wrap(fmt::format("        {}({});", names.emit_enabled, comma_list(names.fields))));
    out_.line("    }}");
    out_.line("}}");
}

std::string rust_generator::generate() {
    assign_names();
    out_.format(rust_templates::introduction, describe_item(schema_), schema_.hash);
    out_.append(rust_templates::module_head);
    for (std::size_t i = 0; i < schema_.enumerations.size(); ++i) {
        write_enumeration(i);
    }
    out_.format(rust_templates::registration, schema_.binary.size(),
                format_byte_list(schema_.binary, 4), schema_.events.size());
    if (any_field(schema_, is_variable)) {
        out_.append(rust_templates::variable_parts);
    }
    if (has_truncated_events(schema_)) {
        out_.append(rust_templates::cut_longest);
    }
    for (std::size_t id = 0; id < schema_.events.size(); ++id) {
        write_event(id);
    }
    return out_.take();
}

}  // namespace

std::string generate_rust(const located_schema& source) {
    return rust_generator(source).generate();
}

}  // namespace elog
