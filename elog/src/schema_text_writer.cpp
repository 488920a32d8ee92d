// SPDX-License-Identifier: MIT
//
// The normal form of a schema's text.
#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "schema_text.hpp"
#include "schema_values.hpp"
#include "value_text.hpp"

namespace elog {
namespace {

using eventlog::field_type;

void append(fmt::memory_buffer& out, std::string_view text) {
    out.append(text.data(), text.data() + text.size());
}

/// In quotes and with a space in front, if there is any.
void append_text(fmt::memory_buffer& out, std::string_view before, std::string_view text) {
    if (!text.empty()) {
        append(out, before);
        append_quoted(out, text);
    }
}

/// How the text says an enumeration.
struct named_type {
    std::string label;
    field_type type{};
};

/// The smallest type that holds all values; the binary form does not say which was declared.
field_type smallest_type(const enumeration_schema& enumeration) {
    const bool negative = std::any_of(enumeration.values.begin(), enumeration.values.end(),
                                      [](const auto& value) { return (value.first >> 63U) != 0; });
    for (const field_type type :
         {field_type::unsigned_8, field_type::unsigned_16, field_type::unsigned_32,
          field_type::unsigned_64, field_type::signed_8, field_type::signed_16,
          field_type::signed_32}) {
        const bool all = std::all_of(
            enumeration.values.begin(), enumeration.values.end(), [&](const auto& value) {
                const bool below_zero = (value.first >> 63U) != 0;
                return fits(type, below_zero, below_zero ? ~value.first + 1 : value.first);
            });
        if (all && negative == is_signed(type)) {
            return type;
        }
    }
    return field_type::signed_64;
}

/// The types of the enumerations: those of the first fields that hold them.
std::vector<field_type> find_types(const provider_schema& schema) {
    std::vector<field_type> types(schema.enumerations.size(), field_type::text);
    for (const event_schema& event : schema.events) {
        for (const field_schema& field : event.fields) {
            if (field.enumeration < types.size() && types[field.enumeration] == field_type::text) {
                types[field.enumeration] = field.type;
            }
        }
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
        if (types[i] == field_type::text) {
            types[i] = smallest_type(schema.enumerations[i]);
        }
    }
    return types;
}

/// What the text calls an enumeration. Programs in C++ have several of one name, from several
/// namespaces, or one with the name of a type; then a number is appended.
std::vector<std::string> make_labels(const provider_schema& schema) {
    std::set<std::string> taken;
    for (const enumeration_schema& enumeration : schema.enumerations) {
        taken.insert(enumeration.name);
    }
    std::vector<std::string> labels;
    std::set<std::string_view> seen;
    for (const enumeration_schema& enumeration : schema.enumerations) {
        std::string label = enumeration.name;
        const bool is_free = seen.insert(enumeration.name).second && !find_type(label);
        for (unsigned number = 2; !is_free && !taken.insert(label).second; ++number) {
            const std::string behind = fmt::format("_{}", number);
            label = enumeration.name.substr(0, eventlog::name_length_max - behind.size()) + behind;
        }
        labels.push_back(std::move(label));
    }
    return labels;
}

void append_enumeration(fmt::memory_buffer& out, const enumeration_schema& enumeration,
                        const named_type& named) {
    const auto end = std::back_inserter(out);
    const field_type type = named.type;
    fmt::format_to(end, "\n    {} {}", enumeration.combines ? "flags" : "enum", named.label);
    if (named.label != enumeration.name) {
        fmt::format_to(end, " called {}", enumeration.name);
    }
    fmt::format_to(end, " : {} {{", name_of(type));
    for (const auto& [value, name] : enumeration.values) {
        if (enumeration.combines && !(is_signed(type) && (value >> 63U) != 0)) {
            fmt::format_to(end, "\n        {} = 0x{:x},", name, value);
        } else if (is_signed(type)) {
            fmt::format_to(end, "\n        {} = {},", name, static_cast<std::int64_t>(value));
        } else {
            fmt::format_to(end, "\n        {} = {},", name, value);
        }
    }
    append(out, enumeration.values.empty() ? "}\n" : "\n    }\n");
}

/// ip4, ip6, mac, or what the type is.
std::string_view type_name(const field_schema& field) {
    for (const std::string_view word : {"ip4", "ip6", "mac"}) {
        const auto type = find_type(word);
        if (type->type == field.type && type->count == field.count &&
            type->format == field.format && field.enumeration == eventlog::no_index) {
            return word;
        }
    }
    return name_of(field.type);
}

void append_field(fmt::memory_buffer& out, const provider_schema& schema,
                  const std::vector<named_type>& named, const field_schema& field) {
    const auto end = std::back_inserter(out);
    const std::string_view type = type_name(field);
    const bool is_short = type != name_of(field.type);
    fmt::format_to(end, "        {}: ", field.name);
    if (field.enumeration >= schema.enumerations.size()) {
        append(out, type);
    } else if (named[field.enumeration].type == field.type) {
        append(out, named[field.enumeration].label);
    } else {
        fmt::format_to(end, "{} as {}", type, named[field.enumeration].label);
    }
    if (field.count != 1 && !is_short) {
        fmt::format_to(end, "[{}]", field.count);
    }
    append(out, field.presence == eventlog::no_index ? "" : "?");
    if (field.format != eventlog::format::plain && !is_short) {
        fmt::format_to(end, " format {}", name_of(field.format));
    }
    append_text(out, " unit ", field.unit);
    append_text(out, " ", field.description);
    out.push_back('\n');
}

void append_event(fmt::memory_buffer& out, const provider_schema& schema,
                  const std::vector<named_type>& named, const event_schema& event) {
    const auto end = std::back_inserter(out);
    fmt::format_to(end, "\n    event {} {}", event.name, name_of(event.severity));
    if (event.kind != eventlog::kind::instant) {
        fmt::format_to(end, " {}", name_of(event.kind));
    }
    append(out, event.session_bound ? " session" : "");
    append(out, event.cuts_texts ? " cut" : "");
    const char* before = " [";
    for (const auto& [bit, name] : schema.keywords) {
        if ((event.keywords >> bit & 1U) != 0) {
            fmt::format_to(end, "{}{}", before, name);
            before = ", ";
        }
    }
    append(out, *before == ',' ? "]" : "");
    append_text(out, " ", event.description);
    append_text(out, " when ", event.meaning);
    append(out, event.fields.empty() ? " {" : " {\n");
    for (const field_schema& field : event.fields) {
        append_field(out, schema, named, field);
    }
    append(out, event.fields.empty() ? "}\n" : "    }\n");
}

/// Why the text does not give the same bytes; empty if it does.
std::string find_difference(const provider_schema& schema, std::string_view text) {
    try {
        const located_schema again = parse_schema_text("this text", text);
        return again.schema.binary == schema.binary
                   ? std::string()
                   : "Its binary form places fields, or uses keywords, in a way that this text "
                     "cannot say.";
    } catch (const failure& error) {
        return error.what();
    }
}

}  // namespace

std::string write_schema_text(const provider_schema& schema) {
    const std::vector<field_type> types = find_types(schema);
    const std::vector<std::string> labels = make_labels(schema);
    std::vector<named_type> named;
    for (std::size_t i = 0; i < types.size(); ++i) {
        named.push_back({labels[i], types[i]});
    }
    fmt::memory_buffer out;
    const auto end = std::back_inserter(out);
    fmt::format_to(end, "provider {}", schema.name);
    append_text(out, " ", schema.description);
    append(out, " {\n");
    for (const auto& [bit, name] : schema.keywords) {
        fmt::format_to(end, "    keyword {} = {}\n", name, bit);
    }
    for (std::size_t i = 0; i < schema.enumerations.size(); ++i) {
        append_enumeration(out, schema.enumerations[i], named[i]);
    }
    for (const event_schema& event : schema.events) {
        append_event(out, schema, named, event);
    }
    append(out, "}\n");
    std::string text = fmt::to_string(out);
    const std::string difference = find_difference(schema, text);
    if (difference.empty()) {
        return text;
    }
    return fmt::format(
        "# This text does not give the same schema when it is read, and no program should be made\n"
        "# from it: {}\n{}",
        difference, text);
}

}  // namespace elog
