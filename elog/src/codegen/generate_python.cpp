// SPDX-License-Identifier: MIT
//
// elog schema gen --lang python: a module that uses ctypes.
#include <vector>

#include "codegen/generate.hpp"
#include "codegen/python_templates.hpp"
#include "codegen/source_text.hpp"

namespace elog {
namespace {

using eventlog::field_type;

/// Keywords, the module's own names, and the members of every enumeration class.
constexpr std::string_view python_reserved_words =
    " False None True and as assert async await break class continue def del elif else except "
    "finally for from global if import in is lambda nonlocal not or pass raise return try while "
    "with yield atexit ctypes enum mmap struct warnings str bytes len min sum name value mro "
    "Exception max zip isinstance property list any names values tuple ValueError TypeError "
    "bytearray _Definition _Piece _Event _gate _page _provider _library _schema _encode _emit "
    "_cut_longest _PAYLOAD_SIZE_MAX _definition _number _unregister _has_listener ";

/// Text for a docstring.
std::string doc_text(std::string text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' || text[i] == '"') {
            text.insert(i++, 1, '\\');
        }
    }
    return text;
}

/// The type hint of a parameter.
std::string hint_of(const field_schema& field) {
    std::string made(spelling_of(field.type).python_hint);
    if (field.count != 1 && field.type != field_type::character) {
        made = fmt::format("list[{}]", made);
        made += field.type == field_type::unsigned_8 ? " | bytes" : "";
    }
    return made + (is_optional(field) && field.type != field_type::text ? " | None" : "");
}

struct python_event_names {
    std::string emit;
    std::string enabled;
    std::string description;
    std::vector<std::string> fields;
};

class python_generator {
  public:
    explicit python_generator(const located_schema& source)
        : schema_(source.schema), scope_(python_reserved_words) {
        scope_.reserve("_EVENT_COUNT");
    }

    std::string generate();

  private:
    void assign_names();
    void write_enumeration(std::size_t index);
    void write_event(std::size_t id);

    const provider_schema& schema_;
    unique_names scope_;
    std::vector<std::string> enumerations_;
    std::vector<python_event_names> events_;
    source_writer out_;
};

void python_generator::assign_names() {
    for (const enumeration_schema& enumeration : schema_.enumerations) {
        enumerations_.push_back(scope_.make(camel_case(enumeration.name)));
    }
    for (const event_schema& event : schema_.events) {
        python_event_names names;
        names.emit = scope_.make(event.name);
        names.enabled = scope_.make(names.emit + "_enabled");
        names.description = scope_.make("_" + names.emit);
        unique_names parameters(python_reserved_words);
        parameters.reserve(names.description);
        for (const field_schema& field : event.fields) {
            names.fields.push_back(parameters.make(field.name));
        }
        events_.push_back(std::move(names));
    }
}

void python_generator::write_enumeration(std::size_t index) {
    const enumeration_schema& enumeration = schema_.enumerations[index];
    if (enumeration.values.empty()) {
        return;
    }
    const auto type = type_of_enumeration(schema_, index).value_or(field_type::signed_64);
    out_.line();
    out_.line();
    out_.line("class {}(enum.{}):", enumerations_[index],
              enumeration.is_bitmask ? "IntFlag" : "IntEnum");
    unique_names names(python_reserved_words);
    for (const auto& [value, name] : enumeration.values) {
        // Names between underscores have special meanings in enumerations of Python.
        const bool is_special = name.front() == '_';
        out_.line("    {} = {}", names.make((is_special ? "V" : "") + upper_case(name)),
                  number_text(value, type));
    }
}

void python_generator::write_event(std::size_t id) {
    const event_schema& event = schema_.events[id];
    const python_event_names& names = events_[id];
    out_.line();
    out_.line();
    out_.line("{} = _Event({}, \"{}:{}\", {}, {}, [", names.description, id, schema_.name,
              event.name, event.fixed_size, event.truncates ? "True" : "False");
    std::vector<std::string> parameters;
    std::vector<std::string> arguments{names.description};
    for (std::size_t i = 0; i < event.fields.size(); ++i) {
        const field_schema& field = event.fields[i];
        out_.line(R"(    ("{}", "{}", {}, {}, {}),)", field.name, spelling_of(field.type).python,
                  field.count, field.offset,
                  is_optional(field) ? fmt::format("{}", field.presence) : std::string("None"));
        parameters.push_back(fmt::format("{}: \"{}\"", names.fields[i], hint_of(field)));
        arguments.push_back(names.fields[i]);
    }
    out_.format(python_templates::enabled, names.enabled, event.name, id);
    out_.line("{}", wrap(fmt::format("def {}({}):", names.emit, comma_list(parameters))));
    source_writer fields;
    write_field_descriptions(fields, event, "    ");
    const std::string about = doc_text(fields.take());
    out_.line(R"(    """{}{}""")", doc_text(describe_emit(event)),
              about.empty() ? "" : fmt::format("\n\n{}    ", about));
    out_.line("    if _gate[{}] and _has_listener({}):", id, id);
    out_.line("{}", wrap(fmt::format("        _emit({})", comma_list(arguments))));
}

std::string python_generator::generate() {
    assign_names();
    out_.format(python_templates::introduction, describe_item(schema_), schema_.hash, schema_.name);
    for (std::size_t i = 0; i < schema_.enumerations.size(); ++i) {
        write_enumeration(i);
    }
    out_.format(python_templates::schema, schema_.events.size(),
                format_byte_list(schema_.binary, 4));
    out_.append(python_templates::registration);
    for (std::size_t id = 0; id < schema_.events.size(); ++id) {
        write_event(id);
    }
    return out_.take();
}

}  // namespace

std::string generate_python(const located_schema& source) {
    return python_generator(source).generate();
}

}  // namespace elog
