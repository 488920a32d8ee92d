// SPDX-License-Identifier: MIT
//
// elog gen --lang c: a header for C11.
#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "codegen/generate.hpp"

namespace elog {
namespace {

using eventlog::field_type;

/// Keywords, macros of common headers, and local names of the generated functions.
constexpr std::string_view c_reserved_words[] = {
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "_Alignas",
    "_Alignof",
    "_Atomic",
    "_Bool",
    "_Complex",
    "_Generic",
    "_Noreturn",
    "asm",
    "typeof",
    "bool",
    "true",
    "false",
    "NULL",
    "errno",
    "stdin",
    "stdout",
    "stderr",
    "linux",
    "unix",
    "complex",
    "I",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "size_t",
    "memcpy",
    "strlen",
    "payload",
    "pieces",
    "end",
    "value",
    "flags",
    "is_text",
    "alignas",
    "alignof",
    "constexpr",
    "nullptr",
    "offset",
    "thread_local",
    "environ",
    "eventlog_emit",
    "eventlog_emit_pieces",
    "_Imaginary",
    "_Static_assert",
    "_Thread_local",
    "static_assert",
};

std::string_view c_type(field_type type) {
    switch (type) {
        case field_type::boolean:
            return "bool";
        case field_type::character:
            return "char";
        case field_type::signed_8:
            return "int8_t";
        case field_type::signed_16:
            return "int16_t";
        case field_type::signed_32:
            return "int32_t";
        case field_type::signed_64:
            return "int64_t";
        case field_type::unsigned_8:
            return "uint8_t";
        case field_type::unsigned_16:
            return "uint16_t";
        case field_type::unsigned_32:
            return "uint32_t";
        case field_type::unsigned_64:
            return "uint64_t";
        case field_type::float_32:
            return "float";
        case field_type::float_64:
            return "double";
        case field_type::text:
            return "char";
        case field_type::bytes:
            return "void";
    }
    return "void";
}

/// Names of an event's functions and their parameters.
struct c_event_names {
    std::string emit;
    std::string enabled;
    std::string emit_enabled;
    std::vector<std::string> fields;
    std::vector<std::string> sizes;  // of byte strings; else empty
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
    void write_head();
    void write_enumeration(const enumeration_schema& enumeration, std::size_t index);
    void write_registration();
    void write_put_word();
    void write_cut_longest();
    void write_event(std::size_t id);
    void write_emit_enabled(std::size_t id);
    void write_var_fields(std::size_t id);
    void write_value(const field_schema& field, const std::string& name);
    void write_presence(const field_schema& field, const std::string& name);
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
            const bool sized = event.fields[i].type == field_type::bytes;
            names.sizes.push_back(sized ? parameters.make(names.fields[i] + "_size") : "");
        }
        events_.push_back(std::move(names));
    }
}

void c_generator::write_head() {
    const std::string upper = upper_case(prefix_);
    out_.line("/*");
    out_.line(" * Provider {}{}{}", schema_.name, schema_.description.empty() ? "" : ": ",
              comment_text(schema_.description));
    out_.line(" *");
    out_.line(
        " * Made by elog gen --lang c. Change the schema and make it anew; this is overwritten.");
    out_.line(" * The hash of the schema is 0x{:016x}.", schema_.hash);
    out_.line(" *");
    out_.line(
        " * Include it wherever events are emitted and link with libeventlog. A program or shared");
    out_.line(
        " * object that does is published when it is loaded, once. While nobody listens, an event");
    out_.line(" * is one load and a branch. All functions: any thread, any signal handler.");
    out_.line(" *");
    out_.line(
        " * Texts end with a NUL; NULL is a null text, or no value where the field is optional.");
    out_.line(" * Other optional fields are passed by pointer: NULL is no value.");
    out_.line(" */");
    out_.line("#ifndef EVENTLOG_PROVIDER_{}_H", upper);
    out_.line("#define EVENTLOG_PROVIDER_{}_H", upper);
    out_.line();
    out_.line("#include <stdbool.h>");
    out_.line("#include <stddef.h>");
    out_.line("#include <stdint.h>");
    out_.line("#include <string.h>");
    out_.line();
    out_.line("#include <eventlog/abi.h>");
    out_.line();
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
                  enumeration.combines ? ": these are combined with |" : "");
        const auto type = type_of_enumeration(schema_, index);
        for (const auto& [value, name] : enumeration.values) {
            const std::string constant = file_scope_.make(prefix + "_" + upper_case(name));
            if (!type) {
                out_.line("#define {} UINT64_C(0x{:x})", constant, value);
            } else if (value == std::uint64_t{1} << 63U && *type == field_type::signed_64) {
                out_.line("#define {} INT64_MIN", constant);
            } else {
                out_.line("#define {} (({}){}{})", constant, c_type(*type),
                          number_text(value, *type), *type == field_type::unsigned_64 ? "U" : "");
            }
        }
    }
    out_.line();
}

void c_generator::write_registration() {
    const std::string upper = upper_case(prefix_);
    const std::string& p = prefix_;
    out_.line("/* Shared memory is mapped over the gate and the room for counters behind it. */");
    out_.line("#if defined(__aarch64__)");
    out_.line("#define {}_GATE_ALIGNMENT 65536", upper);
    out_.line("#define {}_GATE_SIZE 65536", upper);
    out_.line("#else");
    out_.line("#define {}_GATE_ALIGNMENT 4096", upper);
    out_.line("#define {}_GATE_SIZE 8192", upper);
    out_.line("#endif");
    out_.line();
    out_.line("/* One in a program or shared object, however many of its sources include this. */");
    out_.line("#define {}_HIDDEN __attribute__((weak, visibility(\"hidden\")))", upper);
    out_.line();
    out_.line("{}_HIDDEN __attribute__((aligned({}_GATE_ALIGNMENT)))", upper, upper);
    out_.line("uint32_t {}_gate[{}_GATE_SIZE / sizeof(uint32_t)];", p, upper);
    out_.line("{}_HIDDEN struct eventlog_provider* {}_provider;", upper, p);
    out_.line("{}_HIDDEN const unsigned char {}_schema[{}] = {{", upper, p, schema_.binary.size());
    out_.append(format_byte_list(schema_.binary, 4));
    out_.line();
    out_.line("}};");
    out_.line();
    out_.line("__attribute__((constructor)) static void {}_register(void) {{", p);
    out_.line("    if ({}_provider == NULL) {{", p);
    out_.line("        const struct eventlog_provider_definition definition = {{");
    out_.line("            sizeof definition, {}, {}_gate, sizeof {}_gate, {}_schema, sizeof "
              "{}_schema}};",
              schema_.events.size(), p, p, p, p);
    out_.line("        __atomic_store_n(&{}_provider, eventlog_provider_register(&definition),", p);
    out_.line("                         __ATOMIC_RELEASE);");
    out_.line("    }}");
    out_.line("}}");
    out_.line();
    out_.line("__attribute__((destructor)) static void {}_unregister(void) {{", p);
    out_.line("    eventlog_provider_unregister(");
    out_.line("        __atomic_exchange_n(&{}_provider, NULL, __ATOMIC_ACQ_REL));", p);
    out_.line("}}");
    out_.line();
    out_.line("static inline struct eventlog_provider* {}_handle(void) {{", p);
    out_.line("    return __atomic_load_n(&{}_provider, __ATOMIC_ACQUIRE);", p);
    out_.line("}}");
    out_.line();
}

void c_generator::write_put_word() {
    out_.append(fmt::format(R"(/*
 * Where a text or byte string is: its size and how far behind this word it begins. `end` is where
 * it begins in the payload, and moves on. One that is too large for this is refused as a whole.
 */
static inline void {0}_put_word(unsigned char* payload, size_t offset, size_t size, size_t* end) {{
    const uint32_t word =
        size == 0 ? 0 : (uint32_t)((size & 0xffff) << 16 | ((*end - offset - 4) & 0xffff));
    memcpy(payload + offset, &word, sizeof word);
    *end += size;
}}

)",
                            prefix_));
}

void c_generator::write_cut_longest() {
    out_.append(fmt::format(R"(/*
 * Cuts the longest pieces behind the first so that all of them fit into a record, texts between two
 * characters of UTF-8. A text is followed by a piece of one byte, its NUL. Returns flags to emit.
 */
static inline uint32_t {0}_cut_longest(struct eventlog_piece* pieces, const bool* is_text,
                                       size_t count) {{
    const size_t size_max = 65536 - 24;
    size_t low = 1;
    size_t high = size_max + 1; /* the longest piece that fits is in [low, high) */
    size_t total = 0;
    for (size_t i = 0; i < count; ++i) {{
        total += pieces[i].size;
    }}
    if (total <= size_max) {{
        return 0;
    }}
    while (high - low > 1) {{
        const size_t middle = low + (high - low) / 2;
        total = pieces[0].size;
        for (size_t i = 1; i < count; ++i) {{
            total += pieces[i].size < middle ? pieces[i].size : middle;
        }}
        if (total <= size_max) {{
            low = middle;
        }} else {{
            high = middle;
        }}
    }}
    for (size_t i = 1; i < count; ++i) {{
        const unsigned char* const data = (const unsigned char*)pieces[i].data;
        if (pieces[i].size > low) {{
            pieces[i].size = low;
            while (is_text[i] && pieces[i].size > 0 && (data[pieces[i].size] & 0xc0) == 0x80) {{
                --pieces[i].size;
            }}
        }}
    }}
    return EVENTLOG_EMIT_CUT;
}}

)",
                            prefix_));
}

bool c_generator::takes_enum(const field_schema& field) const {
    return field.enumeration != eventlog::no_index && field.count == 1 &&
           fits_int(schema_.enumerations[field.enumeration]);
}

std::string c_generator::parameters(std::size_t id) const {
    const event_schema& event = schema_.events[id];
    std::string all;
    for (std::size_t i = 0; i < event.fields.size(); ++i) {
        const field_schema& field = event.fields[i];
        const std::string& name = events_[id].fields[i];
        all += i == 0 ? "" : ", ";
        const std::string type = takes_enum(field) ? "enum " + enumerations_[field.enumeration]
                                                   : std::string(c_type(field.type));
        if (is_variable(field)) {
            all += fmt::format("const {}* {}", type, name);
            all += field.type == field_type::bytes ? ", size_t " + events_[id].sizes[i] : "";
        } else if (field.count != 1) {
            all += fmt::format("const {} {}[{}]", type, name, field.count);
        } else if (is_optional(field)) {
            all += fmt::format("const {}* {}", type, name);
        } else {
            all += fmt::format("{} {}", type, name);
        }
    }
    return all.empty() ? "void" : all;
}

std::string c_generator::arguments(std::size_t id) const {
    std::string all;
    for (std::size_t i = 0; i < events_[id].fields.size(); ++i) {
        all += i == 0 ? "" : ", ";
        all += events_[id].fields[i];
        if (!events_[id].sizes[i].empty()) {
            all += ", " + events_[id].sizes[i];
        }
    }
    return all;
}

void c_generator::write_presence(const field_schema& field, const std::string& name) {
    if (is_optional(field)) {
        out_.line("    payload[{}] = {} != NULL;", field.presence, name);
    }
}

/// Writes a field of known size into the fixed part.
void c_generator::write_value(const field_schema& field, const std::string& name) {
    const bool by_pointer = field.count != 1 || is_optional(field);
    const std::size_t size = eventlog::size_of(field.type) * field.count;
    if (!is_optional(field)) {
        if (takes_enum(field)) {
            out_.line("    memcpy(payload + {}, &({}){{({}){}}}, {});", field.offset,
                      c_type(field.type), c_type(field.type), name, size);
        } else {
            out_.line("    memcpy(payload + {}, {}{}, {});", field.offset, by_pointer ? "" : "&",
                      name, size);
        }
        return;
    }
    out_.line("    if ({} != NULL) {{", name);
    if (takes_enum(field)) {
        out_.line("        memcpy(payload + {}, &({}){{({})*{}}}, {});", field.offset,
                  c_type(field.type), c_type(field.type), name, size);
    } else {
        out_.line("        memcpy(payload + {}, {}, {});", field.offset, name, size);
    }
    out_.line("    }}");
}

/// A text is two pieces, characters and NUL, so that a cut text ends with a NUL, too.
void c_generator::write_var_fields(std::size_t id) {
    const event_schema& event = schema_.events[id];
    const c_event_names& names = events_[id];
    out_.line("    struct eventlog_piece pieces[] = {{");
    out_.line("        {{payload, {}}},", event.fixed_size);
    std::string is_text = "false";
    for (std::size_t i = 0; i < event.fields.size(); ++i) {
        const std::string& name = names.fields[i];
        if (event.fields[i].type == field_type::text) {
            out_.line("        {{{0} == NULL ? \"\" : {0}, {0} == NULL ? 0 : strlen({0})}},", name);
            out_.line("        {{\"\", {} == NULL ? 0 : 1}},", name);
            is_text += ", true, false";
        } else if (event.fields[i].type == field_type::bytes) {
            out_.line("        {{{0} == NULL ? \"\" : {0}, {0} == NULL ? 0 : {1}}},", name,
                      names.sizes[i]);
            is_text += ", false";
        }
    }
    out_.line("    }};");
    if (event.cuts_texts) {
        out_.line("    static const bool is_text[] = {{{}}};", is_text);
        out_.line(
            "    const uint32_t flags = {}_cut_longest(pieces, is_text, sizeof pieces / sizeof "
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
        } else if (field.type == field_type::bytes) {
            out_.line("    {}_put_word(payload, {}, pieces[{}].size, &end);", prefix_, field.offset,
                      piece);
            piece += 1;
        }
    }
    out_.line(
        "    eventlog_emit_pieces({}_handle(), {}, pieces, sizeof pieces / sizeof *pieces, {});",
        prefix_, id, event.cuts_texts ? "flags" : "0");
}

/// The part behind the gate, out of line.
void c_generator::write_emit_enabled(std::size_t id) {
    const event_schema& event = schema_.events[id];
    out_.line("__attribute__((noinline, unused))");
    out_.line("{}",
              wrap(fmt::format("static void {}({}) {{", events_[id].emit_enabled, parameters(id))));
    if (event.fields.empty()) {
        out_.line("    eventlog_emit({}_handle(), {}, NULL, 0);", prefix_, id);
        out_.line("}}");
        return;
    }
    // The bytes behind the payload, up to a multiple of 8, must be zero.
    out_.line("    unsigned char payload[{}] = {{0}};", (event.fixed_size + 7) / 8 * 8);
    for (std::size_t i = 0; i < event.fields.size(); ++i) {
        if (!is_variable(event.fields[i])) {
            write_value(event.fields[i], events_[id].fields[i]);
        }
        write_presence(event.fields[i], events_[id].fields[i]);
    }
    if (count_variable(event) == 0) {
        out_.line("    eventlog_emit({}_handle(), {}, payload, {});", prefix_, id,
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
    out_.line();
    out_.line("/* Whether anyone listens to {} right now. */", event.name);
    out_.line("static inline bool {}(void) {{", names.enabled);
    out_.line("    const uint32_t word = __atomic_load_n(&{}_gate[{}], __ATOMIC_RELAXED);", prefix_,
              id);
    out_.line("    return word != 0 && ((word & ~EVENTLOG_GATE_AMBIGUOUS) != 0 ||");
    out_.line("                         eventlog_has_listener({}_handle(), {}));", prefix_, id);
    out_.line("}}");
    out_.line();
    out_.line("/*");
    const std::string sentence = describe_item(event);
    out_.line(" * Emits {}.{}{}", event.name, sentence.empty() ? "" : " ", sentence);
    for (const field_schema& field : event.fields) {
        const std::string about = describe_item(field);
        if (!about.empty()) {
            out_.line(" *   {}", about);
        }
    }
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
    write_head();
    for (std::size_t i = 0; i < schema_.enumerations.size(); ++i) {
        write_enumeration(schema_.enumerations[i], i);
    }
    write_registration();
    if (has_variable(schema_)) {
        write_put_word();
    }
    if (has_truncated_events(schema_)) {
        write_cut_longest();
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
