// SPDX-License-Identifier: MIT
//
// Writes the normal form of a schema's text.

#include <fmt/format.h>

#include "schema/schema_text.hpp"
#include "schema/schema_values.hpp"
#include "schema/type_text.hpp"
#include "text/append_format.hpp"
#include "text/escaped_text.hpp"

namespace elog {
namespace {

using eventlog::field_type;

/// Appends `before` and the text in quotes, unless the text is empty.
void append_description(fmt::memory_buffer& out, std::string_view before, std::string_view text) {
    if (!text.empty()) {
        append(out, before);
        append_quoted(out, text);
    }
}

void append_source(fmt::memory_buffer& out, const source_place& source) {
    if (source.line != 0) {
        append(out, " at ");
        append_quoted(out, source.file);
        append_format(out, ":{}", source.line);
    }
}

void append_enumeration_text(fmt::memory_buffer& out, const enumeration_schema& enumeration,
                             const std::string& label, field_type type) {
    append_format(out, "\n    {} {}", enumeration.is_bitmask ? "flags" : "enum", label);
    if (label != enumeration.name) {
        append_format(out, " called {}", enumeration.name);
    }
    append_format(out, " : {} {{", name_of(type));
    for (const auto& [value, name] : enumeration.values) {
        if (enumeration.is_bitmask && !(is_signed(type) && (value >> 63U) != 0)) {
            append_format(out, "\n        {} = 0x{:x},", name, value);
        } else if (is_signed(type)) {
            append_format(out, "\n        {} = {},", name, static_cast<std::int64_t>(value));
        } else {
            append_format(out, "\n        {} = {},", name, value);
        }
    }
    append(out, enumeration.values.empty() ? "}\n" : "\n    }\n");
}

void append_field_text(fmt::memory_buffer& out, const type_text& types, const field_schema& field) {
    append_format(out, "        {}: {}", field.name, types.of(field));
    append_description(out, " ", field.description);
    out.push_back('\n');
}

void append_event(fmt::memory_buffer& out, const provider_schema& schema, const type_text& types,
                  const event_schema& event) {
    append_format(out, "\n    event {} {}", event.name, name_of(event.severity));
    if (event.kind != eventlog::kind::instant) {
        append_format(out, " {}", name_of(event.kind));
    }
    append(out, event.session_bound ? " session" : "");
    append(out, event.truncates ? " truncates" : "");
    const char* before = " [";
    for (const auto& [bit, name] : schema.keywords) {
        if ((event.keywords >> bit & 1U) != 0) {
            append_format(out, "{}{}", before, name);
            before = ", ";
        }
    }
    append(out, *before == ',' ? "]" : "");
    append_description(out, " ", event.description);
    append_description(out, " when ", event.when);
    append_source(out, event.source);
    append(out, event.fields.empty() ? " {" : " {\n");
    for (const field_schema& field : event.fields) {
        append_field_text(out, types, field);
    }
    append(out, event.fields.empty() ? "}\n" : "    }\n");
}

/// The reason why parsing the text does not give the same bytes; empty if it does.
std::string find_difference(const provider_schema& schema, std::string_view text) {
    if (schema.unknown_attributes != 0) {
        return fmt::format("{} of a kind that this version does not know {} missing. Update elog.",
                           schema.unknown_attributes == 1
                               ? "An attribute"
                               : fmt::format("{} attributes", schema.unknown_attributes),
                           schema.unknown_attributes == 1 ? "is" : "are");
    }
    try {
        const located_schema again = parse_schema_text("this text", text);
        return again.schema.binary == schema.binary
                   ? std::string()
                   : "Its binary form places fields, or uses keywords, in a way that this text "
                     "cannot say.";
    } catch (const user_error& error) {
        return error.what();
    }
}

}  // namespace

std::string write_schema_text(const provider_schema& schema) {
    const type_text types(schema);
    fmt::memory_buffer out;
    append_format(out, "provider {}", schema.name);
    append_description(out, " ", schema.description);
    append_source(out, schema.source);
    append(out, " {\n");
    for (const auto& [bit, name] : schema.keywords) {
        append_format(out, "    keyword {} = {}\n", name, bit);
    }
    for (std::size_t i = 0; i < schema.enumerations.size(); ++i) {
        append_enumeration_text(out, schema.enumerations[i], types.label(i),
                                types.of_enumeration(i));
    }
    for (const event_schema& event : schema.events) {
        append_event(out, schema, types, event);
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
