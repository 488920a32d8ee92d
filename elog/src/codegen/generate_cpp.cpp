// SPDX-License-Identifier: MIT
//
// elog gen --lang c++: structs, their traits and the provider. The compiler makes the schema from
// them, and the generated code asserts that it equals the source.
#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include <eventlog/traits.hpp>

#include "codegen/generate.hpp"
#include "codegen/macro_names.hpp"

namespace elog {
namespace {

using eventlog::field_type;
using eventlog::format;

constexpr std::string_view cpp_reserved_words[] = {
    "alignas",       "alignof",     "and",
    "and_eq",        "asm",         "auto",
    "bitand",        "bitor",       "bool",
    "break",         "case",        "catch",
    "char",          "char8_t",     "char16_t",
    "char32_t",      "class",       "compl",
    "concept",       "const",       "consteval",
    "constexpr",     "constinit",   "const_cast",
    "continue",      "co_await",    "co_return",
    "co_yield",      "decltype",    "default",
    "delete",        "do",          "double",
    "dynamic_cast",  "else",        "enum",
    "explicit",      "export",      "extern",
    "false",         "float",       "for",
    "friend",        "goto",        "if",
    "inline",        "int",         "long",
    "mutable",       "namespace",   "new",
    "noexcept",      "not",         "not_eq",
    "nullptr",       "operator",    "or",
    "or_eq",         "private",     "protected",
    "public",        "register",    "reinterpret_cast",
    "requires",      "return",      "short",
    "signed",        "sizeof",      "static",
    "static_assert", "static_cast", "struct",
    "switch",        "template",    "this",
    "thread_local",  "throw",       "true",
    "try",           "typedef",     "typeid",
    "typename",      "union",       "unsigned",
    "using",         "virtual",     "void",
    "volatile",      "wchar_t",     "while",
    "xor",           "xor_eq",      "NULL",
    "errno",         "stdin",       "stdout",
    "stderr",        "linux",       "unix",
    "std",           "eventlog",    "provider",
    "keywords",      "environ",
};

bool is_reserved(std::string_view name) {
    return is_macro(name) || std::find(std::begin(cpp_reserved_words), std::end(cpp_reserved_words),
                                       name) != std::end(cpp_reserved_words);
}

std::string integer_type(field_type type) {
    return fmt::format("std::{}int{}_t", name_of(type)[0] == 'u' ? "u" : "",
                       eventlog::size_of(type) * 8);
}

/// A string literal with the same bytes.
std::string literal(std::string_view text) {
    std::string made = "\"";
    bool was_escape = false;
    for (const char c : text) {
        const bool hexadecimal =
            (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        const auto byte = static_cast<unsigned char>(c);
        if (was_escape && hexadecimal) {
            made += "\" \"";  // separates the digit from the escape
        }
        was_escape = false;
        if (c == '"' || c == '\\') {
            made += '\\';
            made += c;
        } else if (byte < 0x20 || byte == 0x7f || byte >= 0x80) {
            made += fmt::format("\\x{:02x}", byte);
            was_escape = true;
        } else {
            made += c;
        }
    }
    return made + "\"";
}

std::string enum_value(std::uint64_t value, field_type type) {
    const auto number = static_cast<std::int64_t>(value);
    if (value == std::uint64_t{1} << 63U && type == field_type::signed_64) {
        return "-9223372036854775807 - 1";
    }
    const std::string text =
        name_of(type)[0] == 'u' ? fmt::format("{}", value) : fmt::format("{}", number);
    return type == field_type::unsigned_64 ? text + "U" : text;
}

/// The value as eventlog::enum_traits holds it.
std::string traits_value(std::uint64_t value) {
    return value == std::uint64_t{1} << 63U ? "INT64_MIN"
                                            : fmt::format("{}", static_cast<std::int64_t>(value));
}

/// Whether enum_names.hpp finds the values itself: it tries -1 to 126, then powers of two, and
/// lists them in this order.
bool are_values_deducible(const enumeration_schema& enumeration, field_type type) {
    std::vector<std::uint64_t> in_order;
    for (int value = -1; value <= 126; ++value) {
        in_order.push_back(static_cast<std::uint64_t>(std::int64_t{value}));
    }
    for (unsigned bit = 7; bit < 64; ++bit) {
        in_order.push_back(std::uint64_t{1} << bit);
    }
    // It does not try -1 for this type.
    if (type == field_type::unsigned_64) {
        in_order.erase(in_order.begin());
    }
    auto next = in_order.begin();
    for (const auto& [value, name] : enumeration.values) {
        next = std::find(next, in_order.end(), value);
        if (next == in_order.end()) {
            return false;
        }
        ++next;
    }
    return true;
}

struct cpp_type {
    std::string name;
    eventlog::format format = format::plain;  // the type's default
};

cpp_type scalar_type(const field_schema& field) {
    switch (field.type) {
        case field_type::boolean:
            return {"bool"};
        case field_type::character:
            return {"char", field.count == 1 ? format::plain : format::characters};
        case field_type::float_32:
            return {"float"};
        case field_type::float_64:
            return {"double"};
        case field_type::text:
            return {"std::string_view"};
        case field_type::bytes:
            return {"std::span<const std::byte>"};
        default:
            break;
    }
    if (field.type == field_type::signed_64) {
        switch (field.format) {
            case format::duration:
                return {"std::chrono::nanoseconds", format::duration};
            case format::realtime:
                return {"std::chrono::sys_time<std::chrono::nanoseconds>", format::realtime};
            case format::monotonic:
                return {"std::chrono::time_point<std::chrono::steady_clock, "
                        "std::chrono::nanoseconds>",
                        format::monotonic};
            default:
                break;
        }
    }
    return {integer_type(field.type)};
}

class cpp_generator {
  public:
    explicit cpp_generator(const located_schema& source)
        : source_(source),
          schema_(source.schema),
          scope_(cpp_reserved_words, macro_policy::avoided) {}

    std::string generate();

  private:
    void drop_implicit_events();
    void check_name(std::string_view name, text_position where) const;
    void check_text(std::string_view text, text_position where) const;
    void check_enumerations() const;
    void check_event(std::size_t id) const;
    void assign_names();
    void write_head();
    [[nodiscard]] std::string name_of_enumeration(std::size_t index) const;
    [[nodiscard]] bool are_names_deducible(std::size_t index) const;
    void write_enumeration(std::size_t index);
    void write_struct(std::size_t id);
    void write_enum_traits(std::size_t index);
    void write_event_traits(std::size_t id);
    [[nodiscard]] std::string field_traits(const field_schema& field,
                                           const std::string& member) const;
    void write_provider_traits();
    void write_assertion();
    [[nodiscard]] cpp_type type_of(const field_schema& field) const;
    [[nodiscard]] std::size_t first_field(std::size_t id) const {
        return schema_.events[id].session_bound ? 1 : 0;
    }

    const located_schema& source_;
    provider_schema schema_;  // without the events that the C++ library adds
    bool dumps_ = false;
    unique_names scope_;
    std::vector<std::string> enumeration_namespaces_;  // for names that occur again; else empty
    std::vector<std::vector<std::string>> values_;     // of enumerations
    std::vector<std::string> events_;
    std::vector<std::vector<std::string>> fields_;
    source_writer out_;
};

bool is_implicit_session_event(const event_schema& event, bool begin) {
    return event.name == (begin ? "session_begin" : "session_end") &&
           event.kind == (begin ? eventlog::kind::session_begin : eventlog::kind::session_end) &&
           event.severity == eventlog::level::info && event.session_bound && !event.cuts_texts &&
           event.keywords == 0 && event.fields.size() == 1 &&
           event.description == (begin ? "A session begins" : "A session ends") &&
           event.meaning ==
               (begin ? "the application opens a session" : "the application closes a session");
}

bool is_implicit_dump_event(const event_schema& event) {
    return event.name == "dump_complete" && event.kind == eventlog::kind::dump_complete &&
           event.severity == eventlog::level::error && !event.session_bound && !event.cuts_texts &&
           event.keywords == 0 && event.fields.empty() &&
           event.description == "The present state has been told" &&
           event.meaning ==
               "a listener came late and all of the state has been emitted to it alone";
}

/// Removes the events that the library appends: see with_builtin_events in event_list.hpp.
void cpp_generator::drop_implicit_events() {
    auto& events = schema_.events;
    if (is_implicit_dump_event(events.back())) {
        dumps_ = true;
        events.pop_back();
    }
    if (events.size() >= 2 && is_implicit_session_event(events[events.size() - 2], true) &&
        is_implicit_session_event(events.back(), false)) {
        events.resize(events.size() - 2);
        if (std::none_of(events.begin(), events.end(),
                         [](const event_schema& event) { return event.session_bound; })) {
            source_.reject(source_.events[events.size()],
                           "A provider in C++ has session_begin and session_end only if another "
                           "of its events belongs to a session.");
        }
    } else {
        for (std::size_t id = 0; id < events.size(); ++id) {
            if (events[id].session_bound) {
                source_.reject(
                    source_.events[id],
                    "A provider in C++ that has events of sessions ends with these two: event "
                    "session_begin info session_begin session \"A session begins\" when \"the "
                    "application opens a session\" { session: u64 } and event session_end info "
                    "session_end session \"A session ends\" when \"the application closes a "
                    "session\" { session: u64 }.");
            }
        }
    }
    if (events.empty()) {
        source_.reject(source_.provider, "A provider in C++ needs an event besides dump_complete.");
    }
}

void cpp_generator::check_name(std::string_view name, text_position where) const {
    if (is_reserved(name)) {
        source_.reject(where, fmt::format("{} means something else in C++, where this cannot be "
                                          "called otherwise. Rename it.",
                                          name));
    }
}

void cpp_generator::check_text(std::string_view text, text_position where) const {
    if (text.find('\0') != std::string_view::npos) {
        source_.reject(where, "A description in C++ cannot contain \\x00. Remove it.");
    }
}

/// The library lists the enumerations of fields in the order of the fields, so the schema must have
/// the same order.
void cpp_generator::check_enumerations() const {
    std::vector<std::size_t> found;
    for (std::size_t id = 0; id < schema_.events.size(); ++id) {
        const event_schema& event = schema_.events[id];
        for (std::size_t i = 0; i < event.fields.size(); ++i) {
            const std::size_t index = event.fields[i].enumeration;
            if (index == eventlog::no_index) {
                continue;
            }
            if (!type_of_enumeration(schema_, index)) {
                source_.reject(
                    source_.fields[id][i],
                    fmt::format("In C++ the enumeration {} has one type, and here fields "
                                "of several types hold it.",
                                schema_.enumerations[index].name));
            }
            if (std::find(found.begin(), found.end(), index) == found.end()) {
                found.push_back(index);
            }
        }
    }
    for (std::size_t index = 0; index < schema_.enumerations.size(); ++index) {
        if (index >= found.size() || found[index] != index) {
            source_.reject(source_.enumerations[index],
                           "In C++ enumerations stand in the order in which fields first hold "
                           "them, and each is held by a field. Move or remove this one.");
        }
        const enumeration_schema& enumeration = schema_.enumerations[index];
        check_name(enumeration.name, source_.enumerations[index]);
        if (enumeration.values.size() > eventlog::enum_values_max && !are_names_deducible(index)) {
            source_.reject(source_.enumerations[index],
                           "In C++ an enumeration has up to 256 values.");
        }
    }
}

void cpp_generator::check_event(std::size_t id) const {
    const event_schema& event = schema_.events[id];
    const text_position where = source_.events[id];
    check_text(event.description, where);
    check_text(event.meaning, where);
    std::size_t described = 0;
    for (std::size_t i = 0; i < event.fields.size(); ++i) {
        const field_schema& field = event.fields[i];
        const text_position place = source_.fields[id][i];
        check_text(field.unit, place);
        check_text(field.description, place);
        if (event.session_bound && i == 0) {
            if (field.name != "session" || !field.unit.empty() || !field.description.empty() ||
                field.format != format::plain || field.enumeration != eventlog::no_index) {
                source_.reject(place, "In C++ the session of an event is session: u64, without "
                                      "format, unit and description.");
            }
            continue;
        }
        if (field.format == format::plain && type_of(field).format != format::plain) {
            source_.reject(place, "An array of char is shown as a text in C++: write format "
                                  "characters, or use u8.");
        }
        described += field_traits(field, fields_[id][i]).empty() ? 0 : 1;
        if (described > eventlog::described_fields_max) {
            source_.reject(place, "In C++ up to 32 fields of an event have unit, description, a "
                                  "format that their type does not suggest, or a name that means "
                                  "something else in C++.");
        }
    }
}

void cpp_generator::assign_names() {
    for (const enumeration_schema& enumeration : schema_.enumerations) {
        scope_.reserve(enumeration.name);
    }
    std::set<std::string_view> taken;
    for (const enumeration_schema& enumeration : schema_.enumerations) {
        const bool is_first = taken.insert(enumeration.name).second;
        enumeration_namespaces_.push_back(is_first ? std::string()
                                                   : scope_.make(enumeration.name + "_2"));
        unique_names names(cpp_reserved_words, macro_policy::avoided);
        values_.emplace_back();
        for (const auto& [value, name] : enumeration.values) {
            values_.back().push_back(names.make(name));
        }
    }
    for (const event_schema& event : schema_.events) {
        events_.push_back(scope_.make(event.name));
        unique_names members(cpp_reserved_words, macro_policy::avoided);
        // Types are qualified by the provider's name, which a member would hide.
        members.reserve(schema_.name);
        fields_.emplace_back();
        for (const field_schema& field : event.fields) {
            fields_.back().push_back(members.make(field.name));
        }
    }
}

/// The name outside of the provider's namespace.
std::string cpp_generator::name_of_enumeration(std::size_t index) const {
    const std::string& home = enumeration_namespaces_[index];
    return fmt::format("{}::{}{}{}", schema_.name, home,
                       home.empty() ? "" : "::", schema_.enumerations[index].name);
}

/// Whether the library finds values and names of the enumeration itself.
bool cpp_generator::are_names_deducible(std::size_t index) const {
    const enumeration_schema& enumeration = schema_.enumerations[index];
    return are_values_deducible(enumeration, *type_of_enumeration(schema_, index)) &&
           std::equal(
               enumeration.values.begin(), enumeration.values.end(), values_[index].begin(),
               [](const auto& value, const std::string& name) { return value.second == name; });
}

cpp_type cpp_generator::type_of(const field_schema& field) const {
    cpp_type made = scalar_type(field);
    const bool is_byte = field.type == field_type::unsigned_8;
    if (field.enumeration != eventlog::no_index) {
        made = {name_of_enumeration(field.enumeration)};
    }
    if (field.enumeration == eventlog::no_index && is_byte && field.format == format::ip_address) {
        made = {field.count == 4 ? "eventlog::ipv4_address" : "eventlog::ipv6_address",
                format::ip_address};
    } else if (field.enumeration == eventlog::no_index && is_byte &&
               field.format == format::mac_address) {
        made = {"eventlog::mac_address", format::mac_address};
    } else if (field.count != 1) {
        made.name = fmt::format("std::array<{}, {}>", made.name, field.count);
    }
    if (is_optional(field)) {
        made.name = fmt::format("std::optional<{}>", made.name);
    }
    return made;
}

void cpp_generator::write_head() {
    out_.line("// Provider {}{}{}", schema_.name, schema_.description.empty() ? "" : ": ",
              comment_text(schema_.description));
    out_.line("//");
    out_.line("// Made by elog gen --lang c++. Change the schema and make it anew; this is "
              "overwritten.");
    out_.line("//");
    out_.line("//     {}::provider::emit({}::{}{{...}});", schema_.name, schema_.name, events_[0]);
    out_.line("#pragma once");
    out_.line();
    for (const char* header :
         {"array", "chrono", "cstddef", "cstdint", "optional", "span", "string_view"}) {
        out_.line("#include <{}>", header);
    }
    out_.line();
    out_.line("#include <eventlog/eventlog.hpp>");
    out_.line();
    out_.line("namespace {} {{", schema_.name);
    out_.line();
    if (!schema_.keywords.empty()) {
        out_.line("namespace keywords {{");
        unique_names names(cpp_reserved_words, macro_policy::avoided);
        for (const auto& [bit, name] : schema_.keywords) {
            out_.line("inline constexpr eventlog::keyword {}{{{}, \"{}\"}};", names.make(name), bit,
                      name);
        }
        out_.line("}}  // namespace keywords");
        out_.line();
    }
}

void cpp_generator::write_enumeration(std::size_t index) {
    const enumeration_schema& enumeration = schema_.enumerations[index];
    const field_type type = *type_of_enumeration(schema_, index);
    if (!enumeration_namespaces_[index].empty()) {
        out_.line("namespace {} {{  // there is another {}", enumeration_namespaces_[index],
                  enumeration.name);
    }
    out_.line("enum class {} : {} {{", enumeration.name, integer_type(type));
    for (std::size_t i = 0; i < enumeration.values.size(); ++i) {
        out_.line("    {} = {},", values_[index][i], enum_value(enumeration.values[i].first, type));
    }
    out_.line("}};");
    out_.line();
    if (enumeration.combines) {
        out_.line("constexpr {0} operator|({0} one, {0} other) noexcept {{", enumeration.name);
        out_.line("    return static_cast<{0}>(static_cast<{1}>(one) | static_cast<{1}>(other));",
                  enumeration.name, integer_type(type));
        out_.line("}}");
        out_.line();
    }
    if (!enumeration_namespaces_[index].empty()) {
        out_.line("}}  // namespace {}", enumeration_namespaces_[index]);
        out_.line();
    }
}

void cpp_generator::write_struct(std::size_t id) {
    const event_schema& event = schema_.events[id];
    const std::string sentence = describe_item(event);
    if (!sentence.empty()) {
        out_.line("/// {}", sentence);
    }
    if (event.fields.size() == first_field(id)) {
        out_.line("struct {} {{}};", events_[id]);
        out_.line();
        return;
    }
    out_.line("struct {} {{", events_[id]);
    for (std::size_t i = first_field(id); i < event.fields.size(); ++i) {
        const std::string about = describe_item(event.fields[i]);
        if (!about.empty()) {
            out_.line("    /// {}", about);
        }
        out_.line("    {} {};", type_of(event.fields[i]).name, fields_[id][i]);
    }
    out_.line("}};");
    out_.line();
}

void cpp_generator::write_enum_traits(std::size_t index) {
    const enumeration_schema& enumeration = schema_.enumerations[index];
    const bool found = are_names_deducible(index);
    if (found && !enumeration.combines) {
        return;
    }
    out_.line("template <>");
    out_.line("inline constexpr eventlog::enum_traits eventlog::enum_traits_of<{}>{{",
              name_of_enumeration(index));
    if (enumeration.combines) {
        out_.line("    .combines = true,");
    }
    if (!found) {
        out_.line("    .values = {{");
        for (const auto& [value, name] : enumeration.values) {
            out_.line("        {{{}, \"{}\"}},", traits_value(value), name);
        }
        out_.line("    }},");
    }
    out_.line("}};");
    out_.line();
}

std::string cpp_generator::field_traits(const field_schema& field,
                                        const std::string& member) const {
    std::string made;
    if (member != field.name) {
        made += fmt::format(", .name = \"{}\"", field.name);
    }
    if (!field.unit.empty()) {
        made += ", .unit = " + literal(field.unit);
    }
    if (!field.description.empty()) {
        made += ", .description = " + literal(field.description);
    }
    if (field.format != type_of(field).format) {
        made += fmt::format(", .format = eventlog::format::{}", name_of(field.format));
    }
    return made.empty() ? made : fmt::format("{{.of = \"{}\"{}}}", member, made);
}

void cpp_generator::write_event_traits(std::size_t id) {
    const event_schema& event = schema_.events[id];
    out_.line("template <>");
    out_.line("inline constexpr eventlog::event_traits eventlog::traits_of<{}::{}>{{", schema_.name,
              events_[id]);
    out_.line("    .level = eventlog::level::{},", name_of(event.severity));
    std::string keywords;
    unique_names names(cpp_reserved_words, macro_policy::avoided);
    for (const auto& [bit, name] : schema_.keywords) {
        const std::string constant = names.make(name);
        if ((event.keywords >> bit & 1U) != 0) {
            keywords += keywords.empty() ? "" : " | ";
            keywords += fmt::format("{}::keywords::{}", schema_.name, constant);
        }
    }
    if (!keywords.empty()) {
        out_.line("    .keywords = {},", keywords);
    }
    if (events_[id] != event.name) {
        out_.line("    .name = \"{}\",", event.name);
    }
    if (!event.description.empty()) {
        out_.line("    .description = {},", literal(event.description));
    }
    if (!event.meaning.empty()) {
        out_.line("    .meaning = {},", literal(event.meaning));
    }
    if (event.kind != eventlog::kind::instant) {
        out_.line("    .kind = eventlog::kind::{},", name_of(event.kind));
    }
    if (event.session_bound) {
        out_.line("    .session_bound = true,");
    }
    if (event.cuts_texts) {
        out_.line("    .oversize = eventlog::oversize::cut,");
    }
    bool any = false;
    for (std::size_t i = first_field(id); i < event.fields.size(); ++i) {
        const std::string traits = field_traits(event.fields[i], fields_[id][i]);
        if (!traits.empty()) {
            out_.append(any ? ",\n               " : "    .fields = {");
            out_.append(traits);
            any = true;
        }
    }
    if (any) {
        out_.line("}},");
    }
    out_.line("}};");
    out_.line();
}

void cpp_generator::write_provider_traits() {
    if (schema_.description.empty() && schema_.keywords.empty() && !dumps_) {
        return;
    }
    out_.line("template <>");
    out_.line("inline constexpr eventlog::provider_traits "
              "eventlog::provider_traits_of<{}::provider>{{",
              schema_.name);
    if (!schema_.description.empty()) {
        out_.line("    .description = {},", literal(schema_.description));
    }
    if (!schema_.keywords.empty()) {
        out_.line("    .keywords = {{");
        unique_names names(cpp_reserved_words, macro_policy::avoided);
        for (const auto& [bit, name] : schema_.keywords) {
            out_.line("        {}::keywords::{},", schema_.name, names.make(name));
        }
        out_.line("    }},");
    }
    if (dumps_) {
        out_.line("    .dumps = true,");
    }
    out_.line("}};");
    out_.line();
}

/// Bytes 16 to 23 of a schema are its hash.
void cpp_generator::write_assertion() {
    out_.line("// What the compiler makes of all this is the schema that it was made from.");
    out_.line("static_assert(");
    out_.line("    [] {{");
    out_.line("        std::uint64_t hash = 0;");
    out_.line("        for (std::size_t i = 0; i < 8; ++i) {{");
    out_.line("            hash |= std::uint64_t{{{}::provider::schema()[16 + i]}} << (8 * i);",
              schema_.name);
    out_.line("        }}");
    out_.line("        return hash;");
    out_.line("    }}() == 0x{:016x}U,", schema_.hash);
    out_.line(
        "    \"{}: this header belongs to another version of eventlog. Make it anew with elog "
        "gen.\");",
        schema_.name);
}

std::string cpp_generator::generate() {
    drop_implicit_events();
    check_name(schema_.name, source_.provider);
    check_text(schema_.description, source_.provider);
    assign_names();
    check_enumerations();
    for (std::size_t id = 0; id < schema_.events.size(); ++id) {
        check_event(id);
    }
    write_head();
    for (std::size_t i = 0; i < schema_.enumerations.size(); ++i) {
        write_enumeration(i);
    }
    std::string list;
    for (std::size_t id = 0; id < schema_.events.size(); ++id) {
        write_struct(id);
        list += ", " + events_[id];
    }
    out_.line("{}", wrap(fmt::format("using provider = eventlog::provider<\"{}\"{}>;", schema_.name,
                                     list)));
    out_.line();
    out_.line("}}  // namespace {}", schema_.name);
    out_.line();
    for (std::size_t i = 0; i < schema_.enumerations.size(); ++i) {
        write_enum_traits(i);
    }
    for (std::size_t id = 0; id < schema_.events.size(); ++id) {
        write_event_traits(id);
    }
    write_provider_traits();
    write_assertion();
    return out_.take();
}

}  // namespace

std::string generate_cpp(const located_schema& source) {
    return cpp_generator(source).generate();
}

}  // namespace elog
