// SPDX-License-Identifier: MIT
//
// elog schema gen --lang c++: structs, their traits and the provider. The compiler makes the schema
// from them, and the generated code asserts that it equals the source.
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
std::string traits_value(std::uint64_t value) {
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
    void write_struct(std::size_t id);
    void write_provider();
    void write_enum_traits(std::size_t index);
    void write_event_traits(std::size_t id);
    void write_provider_traits();
    void write_member(std::string_view name, std::string_view value);
    [[nodiscard]] std::string name_of_keyword(std::size_t index) const {
        return fmt::format("{}::keywords::{}", schema_.name, model_.keywords()[index]);
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
    if (!in_namespace.empty()) {
        out_.line("}}  // namespace {}", in_namespace);
        out_.line();
    }
}

void cpp_generator::write_struct(std::size_t id) {
    const event_schema& event = schema_.events[id];
    const std::string sentence = describe_item(event);
    if (!sentence.empty()) {
        out_.line("/// {}", sentence);
    }
    const bool is_empty = event.fields.size() == model_.first_field(id);
    out_.line("struct {} {{{}", model_.events()[id], is_empty ? "};" : "");
    for (std::size_t i = model_.first_field(id); i < event.fields.size(); ++i) {
        const std::string about = describe_item(event.fields[i]);
        if (!about.empty()) {
            out_.line("    /// {}", about);
        }
        out_.line("    {} {};", model_.type_of(event.fields[i]).name, model_.fields(id)[i]);
    }
    if (!is_empty) {
        out_.line("}};");
    }
    out_.line();
}

void cpp_generator::write_provider() {
    std::vector<std::string> arguments{fmt::format("\"{}\"", schema_.name)};
    arguments.insert(arguments.end(), model_.events().begin(), model_.events().end());
    out_.line("{}",
              wrap(fmt::format("using provider = eventlog::provider<{}>;", comma_list(arguments))));
    out_.line();
    out_.line("}}  // namespace {}", schema_.name);
    out_.line();
}

void cpp_generator::write_member(std::string_view name, std::string_view value) {
    if (!value.empty()) {
        out_.line("    .{} = {},", name, value);
    }
}

void cpp_generator::write_enum_traits(std::size_t index) {
    const enumeration_schema& enumeration = schema_.enumerations[index];
    const bool found = model_.has_deducible_names(index);
    if (found && !enumeration.is_bitmask) {
        return;
    }
    out_.line("template <>");
    out_.line("inline constexpr eventlog::enum_info eventlog::enum_info_of<{}>{{",
              model_.name_of_enumeration(index));
    write_member("is_bitmask", enumeration.is_bitmask ? "true" : "");
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

void cpp_generator::write_event_traits(std::size_t id) {
    const event_schema& event = schema_.events[id];
    const std::string& name = model_.events()[id];
    std::string keywords;
    for (std::size_t i = 0; i < schema_.keywords.size(); ++i) {
        if ((event.keywords >> schema_.keywords[i].first & 1U) != 0) {
            keywords += keywords.empty() ? "" : " | ";
            keywords += name_of_keyword(i);
        }
    }
    std::string fields;
    for (std::size_t i = model_.first_field(id); i < event.fields.size(); ++i) {
        const std::string traits = model_.field_info(event.fields[i], model_.fields(id)[i]);
        if (!traits.empty()) {
            fields += fields.empty() ? "{" : ",\n               ";
            fields += traits;
        }
    }
    out_.line("template <>");
    out_.line("inline constexpr eventlog::event_info eventlog::event_info_of<{}::{}>{{",
              schema_.name, name);
    write_member("level", fmt::format("eventlog::level::{}", name_of(event.severity)));
    write_member("keywords", keywords);
    write_member("name", name != event.name ? fmt::format("\"{}\"", event.name) : "");
    write_member("description", optional_literal(event.description));
    write_member("when", optional_literal(event.when));
    write_member("kind", event.kind != eventlog::kind::instant
                             ? fmt::format("eventlog::kind::{}", name_of(event.kind))
                             : "");
    write_member("session_bound", event.session_bound ? "true" : "");
    write_member("oversize", event.truncates ? "eventlog::oversize::truncate" : "");
    write_member("fields", fields.empty() ? fields : fields + "}");
    out_.line("}};");
    out_.line();
}

void cpp_generator::write_provider_traits() {
    if (schema_.description.empty() && schema_.keywords.empty() && !model_.replays_state()) {
        return;
    }
    out_.line("template <>");
    out_.line("inline constexpr eventlog::provider_info "
              "eventlog::provider_info_of<{}::provider>{{",
              schema_.name);
    write_member("description", optional_literal(schema_.description));
    if (!schema_.keywords.empty()) {
        out_.line("    .keywords = {{");
        for (std::size_t i = 0; i < schema_.keywords.size(); ++i) {
            out_.line("        {},", name_of_keyword(i));
        }
        out_.line("    }},");
    }
    write_member("replays_state", model_.replays_state() ? "true" : "");
    out_.line("}};");
    out_.line();
}

std::string cpp_generator::generate() {
    out_.format(cpp_templates::head, describe_item(schema_), schema_.name, model_.events()[0]);
    write_keywords();
    for (std::size_t i = 0; i < schema_.enumerations.size(); ++i) {
        write_enumeration(i);
    }
    for (std::size_t id = 0; id < schema_.events.size(); ++id) {
        write_struct(id);
    }
    write_provider();
    for (std::size_t i = 0; i < schema_.enumerations.size(); ++i) {
        write_enum_traits(i);
    }
    for (std::size_t id = 0; id < schema_.events.size(); ++id) {
        write_event_traits(id);
    }
    write_provider_traits();
    out_.format(cpp_templates::assertion, schema_.name, schema_.hash);
    return out_.take();
}

}  // namespace

std::string generate_cpp(const located_schema& source) {
    return cpp_generator(source).generate();
}

}  // namespace elog
