// SPDX-License-Identifier: MIT
//
// elog gen --lang rust: a module without crates.
#include <vector>

#include "codegen/generate.hpp"

namespace elog {
namespace {

using eventlog::field_type;

/// Keywords and the module's own names.
constexpr std::string_view rust_reserved_words[] = {
    "_",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "pub",
    "ref",
    "return",
    "self",
    "Self",
    "static",
    "struct",
    "super",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
    "union",
    "abstract",
    "u8",
    "u16",
    "u32",
    "u64",
    "i8",
    "i16",
    "i32",
    "i64",
    "f32",
    "f64",
    "usize",
    "bool",
    "str",
    "payload",
    "parts",
    "end",
    "flags",
    "pieces",
    "value",
    "element",
    "index",
    "std",
    "register",
    "unregister",
    "handle",
    "put_word",
    "cut_longest",
    "Option",
    "Some",
    "None",
    "Definition",
    "Piece",
    "Part",
    "Gate",
    "GATE",
    "GATE_SIZE",
    "CLOSED",
    "HANDLE",
    "SCHEMA",
    "REGISTER",
    "UNREGISTER",
    "AtomicU32",
    "AtomicPtr",
    "Ordering",
    "c_void",
    "ptr",
    "core",
    "Copy",
    "Clone",
    "Debug",
    "PartialEq",
    "Eq",
    "eventlog_has_listener",
    "eventlog_emit",
    "eventlog_emit_pieces",
    "eventlog_provider_register",
    "eventlog_provider_unregister",
    "drop",
    "PAYLOAD_SIZE_MAX",
};

constexpr std::string_view module_head = R"(
#![allow(dead_code, non_snake_case, non_camel_case_types, non_upper_case_globals)]
#![allow(bindings_with_variant_name)] // a field may be called like a value of its enumeration
#![allow(clippy::too_many_arguments, clippy::declare_interior_mutable_const)]

use std::os::raw::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

#[repr(C)]
struct Definition {
    size: u32,
    event_count: u32,
    gate: *const Gate,
    gate_size: usize,
    schema: *const u8,
    schema_size: usize,
}

#[repr(C)]
struct Piece {
    data: *const u8,
    size: usize,
}

#[link(name = "eventlog")]
extern "C" {
    fn eventlog_provider_register(definition: *const Definition) -> *mut c_void;
    fn eventlog_provider_unregister(provider: *mut c_void);
    fn eventlog_has_listener(provider: *const c_void, event: u32) -> bool;
    fn eventlog_emit(provider: *mut c_void, event: u32, payload: *const u8, size: usize);
    fn eventlog_emit_pieces(
        provider: *mut c_void,
        event: u32,
        pieces: *const Piece,
        count: usize,
        flags: u32,
    );
}

#[cfg(target_arch = "aarch64")]
const GATE_SIZE: usize = 65536;
#[cfg(not(target_arch = "aarch64"))]
const GATE_SIZE: usize = 8192;

/// One word for each event, and room for counters. Shared memory is mapped over it: it is alone on
/// its pages.
#[cfg_attr(target_arch = "aarch64", repr(C, align(65536)))]
#[cfg_attr(not(target_arch = "aarch64"), repr(C, align(4096)))]
struct Gate([AtomicU32; GATE_SIZE / 4]);

const CLOSED: AtomicU32 = AtomicU32::new(0);
static GATE: Gate = Gate([CLOSED; GATE_SIZE / 4]);
static HANDLE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

fn handle() -> *mut c_void {
    HANDLE.load(Ordering::Acquire)
}

// Called by the loader, in front of main and behind it.
#[used]
#[link_section = ".init_array"]
static REGISTER: extern "C" fn() = register;
#[used]
#[link_section = ".fini_array"]
static UNREGISTER: extern "C" fn() = unregister;

extern "C" fn unregister() {
    let provider = HANDLE.swap(ptr::null_mut(), Ordering::AcqRel);
    // SAFETY: nobody else has this handle any more, or it is null, which is allowed.
    unsafe { eventlog_provider_unregister(provider) }
}
)";

constexpr std::string_view variable_parts = R"(
/// A text or byte string on its way into a payload.
struct Part<'a> {
    bytes: &'a [u8],
    nul: &'static [u8], // behind a text
}

impl<'a> Part<'a> {
    fn text(text: Option<&'a str>) -> Part<'a> {
        Part {
            bytes: text.unwrap_or("").as_bytes(),
            nul: if text.is_some() { b"\0" } else { b"" },
        }
    }

    fn bytes(bytes: Option<&'a [u8]>) -> Part<'a> {
        Part {
            bytes: bytes.unwrap_or(b""),
            nul: b"",
        }
    }

    fn size(&self) -> usize {
        self.bytes.len() + self.nul.len()
    }
}

impl Piece {
    fn of(bytes: &[u8]) -> Piece {
        Piece {
            data: bytes.as_ptr(),
            size: bytes.len(),
        }
    }
}

/// Where a text or byte string is: its size and how far behind this word it begins. `end` is where
/// it begins in the payload, and moves on. One that is too large for this is refused as a whole.
fn put_word(payload: &mut [u8], offset: usize, size: usize, end: &mut usize) {
    if size != 0 {
        let word = ((size & 0xffff) << 16 | ((*end - offset - 4) & 0xffff)) as u32;
        payload[offset..offset + 4].copy_from_slice(&word.to_ne_bytes());
    }
    *end += size;
}
)";

constexpr std::string_view cut_longest = R"(
const PAYLOAD_SIZE_MAX: usize = 65536 - 24;

/// Cuts the longest parts so that all of them fit into a record, texts between two characters.
/// Returns flags to emit.
fn cut_longest(parts: &mut [Part], fixed_size: usize) -> u32 {
    let size_with = |parts: &[Part], longest: usize| -> usize {
        let sizes = parts.iter().map(|part| part.bytes.len().min(longest) + part.nul.len());
        fixed_size + sizes.sum::<usize>()
    };
    if size_with(parts, usize::MAX) <= PAYLOAD_SIZE_MAX {
        return 0;
    }
    let (mut low, mut high) = (0, PAYLOAD_SIZE_MAX + 1); // what fits is in low..high
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if size_with(parts, middle) <= PAYLOAD_SIZE_MAX {
            low = middle;
        } else {
            high = middle;
        }
    }
    for part in parts.iter_mut().filter(|part| part.bytes.len() > low) {
        let mut size = low;
        while !part.nul.is_empty() && size > 0 && part.bytes[size] & 0xc0 == 0x80 {
            size -= 1;
        }
        part.bytes = &part.bytes[..size];
    }
    1
}
)";

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
    void write_head();
    void write_enumeration(std::size_t index);
    void write_registration();
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
    return !described.combines && !described.values.empty() &&
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

void rust_generator::write_head() {
    out_.line("//! Provider {}{}{}", schema_.name, schema_.description.empty() ? "" : ": ",
              comment_text(schema_.description));
    out_.line("//!");
    out_.line("//! Made by elog gen --lang rust. Change the schema and make it anew; this is "
              "overwritten.");
    out_.line("//! The hash of the schema is 0x{:016x}.", schema_.hash);
    out_.line("//!");
    out_.line("//! A module of a program or cdylib, for any edition up to 2021. The program is "
              "published when it");
    out_.line("//! is loaded. While nobody listens, an event is one load and a branch. All "
              "functions: any thread.");
    out_.append(module_head);
    out_.line();
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

void rust_generator::write_registration() {
    out_.line("static SCHEMA: [u8; {}] = [", schema_.binary.size());
    out_.append(format_byte_list(schema_.binary, 4));
    out_.line();
    out_.line("];");
    out_.line();
    out_.line("extern \"C\" fn register() {{");
    out_.line("    let definition = Definition {{");
    out_.line("        size: std::mem::size_of::<Definition>() as u32,");
    out_.line("        event_count: {},", schema_.events.size());
    out_.line("        gate: &GATE,");
    out_.line("        gate_size: std::mem::size_of::<Gate>(),");
    out_.line("        schema: SCHEMA.as_ptr(),");
    out_.line("        schema_size: SCHEMA.len(),");
    out_.line("    }};");
    out_.line("    // SAFETY: gate and schema are static.");
    out_.line("    let provider = unsafe {{ eventlog_provider_register(&definition) }};");
    out_.line("    HANDLE.store(provider, Ordering::Release);");
    out_.line("}}");
}

std::string rust_generator::type_of(const field_schema& field) const {
    std::string type(rust_type(field.type));
    if (field.enumeration != eventlog::no_index && is_enum(field.enumeration)) {
        type = enumerations_[field.enumeration];
    }
    if (field.count != 1) {
        type = fmt::format("&[{}; {}]", type, field.count);
    }
    return is_optional(field) ? fmt::format("Option<{}>", type) : type;
}

std::string rust_generator::parameters(std::size_t id) const {
    std::string all;
    for (std::size_t i = 0; i < events_[id].fields.size(); ++i) {
        all += all.empty() ? "" : ", ";
        all += events_[id].fields[i] + ": " + type_of(schema_.events[id].fields[i]);
    }
    return all;
}

std::string rust_generator::bytes_of(const field_schema& field, const std::string& value) const {
    const bool is_number = field.enumeration == eventlog::no_index || !is_enum(field.enumeration);
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
    out_.line("    let {}parts = [", event.cuts_texts ? "mut " : "");
    for (std::size_t i = 0; i < event.fields.size(); ++i) {
        const field_schema& field = event.fields[i];
        if (is_variable(field)) {
            const std::string& name = events_[id].fields[i];
            out_.line("        Part::{}({}),", field.type == field_type::text ? "text" : "bytes",
                      is_optional(field) ? name : fmt::format("Some({})", name));
        }
    }
    out_.line("    ];");
    if (event.cuts_texts) {
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
    out_.line("    unsafe {{ eventlog_emit_pieces(handle(), {}, pieces.as_ptr(), pieces.len(), {}) "
              "}}",
              id, event.cuts_texts ? "flags" : "0");
}

/// The part behind the gate, out of line.
void rust_generator::write_emit_enabled(std::size_t id) {
    const event_schema& event = schema_.events[id];
    out_.line("#[inline(never)]");
    out_.line("{}", wrap(fmt::format("fn {}({}) {{", events_[id].emit_enabled, parameters(id))));
    if (event.fields.empty()) {
        out_.line(
            "    // SAFETY: there is no payload; the handle is one or null, which is ignored.");
        out_.line("    unsafe {{ eventlog_emit(handle(), {}, ptr::null(), 0) }}", id);
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
        out_.line("    unsafe {{ eventlog_emit(handle(), {}, payload.as_ptr(), {}) }}", id,
                  event.fixed_size);
    }
    out_.line("}}");
}

void rust_generator::write_event(std::size_t id) {
    const event_schema& event = schema_.events[id];
    const rust_event_names& names = events_[id];
    out_.line();
    write_emit_enabled(id);
    out_.line();
    out_.line("/// Whether anyone listens to {} right now.", event.name);
    out_.line("#[inline(always)]");
    out_.line("pub fn {}() -> bool {{", names.enabled);
    out_.line("    let word = GATE.0[{}].load(Ordering::Relaxed);", id);
    out_.line("    // A gate may be open without anybody. SAFETY: the handle is one or null.");
    out_.line("    word != 0");
    out_.line(
        "        && (word & 0x7FFE_FFFF != 0 || unsafe {{ eventlog_has_listener(handle(), {}) }})",
        id);
    out_.line("}}");
    out_.line();
    const std::string sentence = describe_item(event);
    out_.line("/// Emits {}.{}{}", event.name, sentence.empty() ? "" : " ", sentence);
    for (const field_schema& field : event.fields) {
        const std::string about = describe_item(field);
        if (!about.empty()) {
            out_.line("/// - {}", about);
        }
    }
    out_.line("#[inline(always)]");
    out_.line("{}", wrap(fmt::format("pub fn {}({}) {{", names.emit, parameters(id))));
    std::string arguments;
    for (const std::string& field : names.fields) {
        arguments += arguments.empty() ? "" : ", ";
        arguments += field;
    }
    out_.line("    if {}() {{", names.enabled);
    out_.line("{}", wrap(fmt::format("        {}({});", names.emit_enabled, arguments)));
    out_.line("    }}");
    out_.line("}}");
}

std::string rust_generator::generate() {
    assign_names();
    write_head();
    for (std::size_t i = 0; i < schema_.enumerations.size(); ++i) {
        write_enumeration(i);
    }
    write_registration();
    if (has_variable(schema_)) {
        out_.append(variable_parts);
    }
    if (has_truncated_events(schema_)) {
        out_.append(cut_longest);
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
