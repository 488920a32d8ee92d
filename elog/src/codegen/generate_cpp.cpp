// SPDX-License-Identifier: MIT
//
// elog schema gen --lang c++: structs with their metadata and the provider. The compiler makes the
// schema from them, and the generated code asserts that it equals the source.
#include <vector>

#include "codegen/cpp_model.hpp"
#include "codegen/cpp_templates.hpp"
#include "codegen/generate.hpp"
#include "codegen/source_text.hpp"

namespace elog {
namespace {

using eventlog::field_type;

std::string enum_value(std::uint64_t value, field_type type) {
    if (value == std::uint64_t{1} << 63U && type == field_type::signed_64) {
        return "-9223372036854775807 - 1";
    }
    return number_text(value, type) + (type == field_type::unsigned_64 ? "U" : "");
}

/// The value as eventlog::enum_info holds it.
std::string info_value(std::uint64_t value) {
    return value == std::uint64_t{1} << 63U ? "INT64_MIN"
                                            : fmt::format("{}", static_cast<std::int64_t>(value));
}

/// Empty for an empty text.
std::string optional_literal(std::string_view text) {
    return text.empty() ? std::string() : cpp_literal(text);
}

class cpp_generator {
  public:
    explicit cpp_generator(const located_schema& source)
        : model_(source), schema_(model_.schema()) {}

    std::string generate();

  private:
    void write_keywords();
    void write_enumeration(std::size_t index);
    void write_enum_info(std::size_t index);
    void write_event(std::size_t id);
    void write_event_info(std::size_t id);
    void write_provider();
    void write_provider_info();
    void write_member(std::string_view name, std::string_view value);
    [[nodiscard]] std::string keywords_of(const event_schema& event) const;
    [[nodiscard]] std::string field_infos(std::size_t id) const;
    [[nodiscard]] std::string list_entry(std::size_t id) const;
    [[nodiscard]] std::string example() const;
    [[nodiscard]] std::string name_of_keyword(std::size_t index) const {
        return fmt::format("::{}::keywords::{}", schema_.name, model_.keywords()[index]);
    }

    cpp_model model_;
    const provider_schema& schema_;
    source_writer out_;
};

void cpp_generator::write_keywords() {
    if (schema_.keywords.empty()) {
        return;
    }
    out_.line("namespace keywords {{");
    for (std::size_t i = 0; i < schema_.keywords.size(); ++i) {
        const auto& [bit, name] = schema_.keywords[i];
        out_.line("inline constexpr eventlog::keyword {}{{{}, \"{}\"}};", model_.keywords()[i], bit,
                  name);
    }
    out_.line("}}  // namespace keywords");
    out_.line();
}

void cpp_generator::write_enumeration(std::size_t index) {
    const enumeration_schema& enumeration = schema_.enumerations[index];
    const field_type type = *type_of_enumeration(schema_, index);
    const std::string& in_namespace = model_.namespace_of_enumeration(index);
    if (!in_namespace.empty()) {
        out_.line("namespace {} {{  // there is another {}", in_namespace, enumeration.name);
    }
    out_.line("enum class {} : {} {{", enumeration.name, cpp_integer(type));
    for (std::size_t i = 0; i < enumeration.values.size(); ++i) {
        out_.line("    {} = {},", model_.values(index)[i],
                  enum_value(enumeration.values[i].first, type));
    }
    out_.line("}};");
    out_.line();
    if (enumeration.is_bitmask) {
        out_.format(cpp_templates::combine_operator, enumeration.name, cpp_integer(type));
    }
    write_enum_info(index);
    if (!in_namespace.empty()) {
        out_.line("}}  // namespace {}", in_namespace);
        out_.line();
    }
}

/// Writes nothing if the library finds all of it.
void cpp_generator::write_enum_info(std::size_t index) {
    const enumeration_schema& enumeration = schema_.enumerations[index];
    const bool found = model_.has_deducible_names(index);
    if (found && !enumeration.is_bitmask) {
        return;
    }
    out_.format(cpp_templates::describe_begin, enumeration.name, "enum_info");
    write_member("is_bitmask", enumeration.is_bitmask ? "true" : "");
    if (!found) {
        out_.line("        .values = {{");
        for (const auto& [value, name] : enumeration.values) {
            out_.line("            {{{}, \"{}\"}},", info_value(value), name);
        }
        out_.line("        }},");
    }
    out_.append(cpp_templates::describe_end);
}

void cpp_generator::write_event(std::size_t id) {
    const event_schema& event = schema_.events[id];
    const std::string sentence = describe_item(event);
    if (!sentence.empty()) {
        out_.line("/// {}", sentence);
    }
    out_.line("struct {} {{", model_.events()[id]);
    write_event_info(id);
    for (std::size_t i = model_.first_field(id); i < event.fields.size(); ++i) {
        const std::string about = describe_item(event.fields[i]);
        if (!about.empty()) {
            out_.line("    /// {}", about);
        }
        out_.line("    {} {};", model_.type_of(event.fields[i]).name, model_.fields(id)[i]);
    }
    out_.line("}};");
    out_.line();
}

std::string cpp_generator::keywords_of(const event_schema& event) const {
    std::string keywords;
    for (std::size_t i = 0; i < schema_.keywords.size(); ++i) {
        if ((event.keywords >> schema_.keywords[i].first & 1U) != 0) {
            keywords += keywords.empty() ? "" : " | ";
            keywords += name_of_keyword(i);
        }
    }
    return keywords;
}

/// Empty if no field of the event needs one.
std::string cpp_generator::field_infos(std::size_t id) const {
    const event_schema& event = schema_.events[id];
    std::string fields;
    for (std::size_t i = model_.first_field(id); i < event.fields.size(); ++i) {
        const std::string info = model_.field_info(event.fields[i], model_.fields(id)[i]);
        if (!info.empty()) {
            fields += fields.empty() ? "{" : ",\n                   ";
            fields += info;
        }
    }
    return fields.empty() ? fields : fields + "}";
}

void cpp_generator::write_event_info(std::size_t id) {
    const event_schema& event = schema_.events[id];
    const std::string& name = model_.events()[id];
    const bool needs_kind =
        event.kind != eventlog::kind::instant && model_.wrapper_of(id) == cpp_wrapper::none;
    out_.line("    static constexpr eventlog::event_info info{{");
    write_member("level", fmt::format("eventlog::level::{}", name_of(event.severity)));
    write_member("keywords", keywords_of(event));
    write_member("name", name != event.name ? fmt::format("\"{}\"", event.name) : "");
    write_member("description", optional_literal(event.description));
    write_member("when", optional_literal(event.when));
    write_member("kind", needs_kind ? fmt::format("eventlog::kind::{}", name_of(event.kind)) : "");
    write_member("session_bound", event.session_bound ? "true" : "");
    write_member("oversize", event.truncates ? "eventlog::oversize::truncate" : "");
    write_member("fields", field_infos(id));
    write_member("line", "0");  // this place says nothing
    out_.line("    }};");
}

/// The event in the provider's list.
std::string cpp_generator::list_entry(std::size_t id) const {
    const std::string& name = model_.events()[id];
    switch (model_.wrapper_of(id)) {
        case cpp_wrapper::timed:
            return fmt::format("eventlog::timed<{}>", name);
        case cpp_wrapper::gauge:
            return fmt::format("eventlog::gauge<{}>", name);
        case cpp_wrapper::none:
            break;
    }
    return name;
}

void cpp_generator::write_provider() {
    std::vector<std::string> arguments{fmt::format("\"{}\"", schema_.name)};
    for (std::size_t id = 0; id < schema_.events.size(); ++id) {
        arguments.push_back(list_entry(id));
    }
    out_.line("{}",
              wrap(fmt::format("using provider = eventlog::provider<{}>;", comma_list(arguments))));
    out_.line();
}

/// A member of an info, indented as in a member of a struct and in a return statement.
void cpp_generator::write_member(std::string_view name, std::string_view value) {
    if (!value.empty()) {
        out_.line("        .{} = {},", name, value);
    }
}

void cpp_generator::write_provider_info() {
    if (schema_.description.empty() && schema_.keywords.empty() && !model_.replays_state()) {
        return;
    }
    out_.format(cpp_templates::describe_begin, "provider", "provider_info");
    write_member("description", optional_literal(schema_.description));
    if (!schema_.keywords.empty()) {
        out_.line("        .keywords = {{");
        for (std::size_t i = 0; i < schema_.keywords.size(); ++i) {
            out_.line("            {},", name_of_keyword(i));
        }
        out_.line("        }},");
    }
    write_member("replays_state", model_.replays_state() ? "true" : "");
    write_member("line", "0");
    out_.append(cpp_templates::describe_end);
}

/// A call that emits an event, or begins a timed scope if there are no others.
std::string cpp_generator::example() const {
    std::size_t id = 0;
    while (id < schema_.events.size() && model_.wrapper_of(id) == cpp_wrapper::timed) {
        ++id;
    }
    return id < schema_.events.size()
               ? fmt::format("{0}::provider::emit({0}::{1}{{...}});", schema_.name,
                             model_.events()[id])
               : fmt::format("auto scope = {0}::provider::time([&] {{ return {0}::{1}{{...}}; }});",
                             schema_.name, model_.events()[0]);
}

std::string cpp_generator::generate() {
    out_.format(cpp_templates::head, describe_item(schema_), schema_.name, example());
    write_keywords();
    for (std::size_t i = 0; i < schema_.enumerations.size(); ++i) {
        write_enumeration(i);
    }
    for (std::size_t id = 0; id < schema_.events.size(); ++id) {
        write_event(id);
    }
    write_provider();
    write_provider_info();
    out_.format(cpp_templates::assertion, schema_.name, schema_.hash);
    return out_.take();
}

}  // namespace

std::string generate_cpp(const located_schema& source) {
    return cpp_generator(source).generate();
}

}  // namespace elog
