// SPDX-License-Identifier: MIT
#include "schema/type_text.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "schema/schema_values.hpp"
#include "text/escaped_text.hpp"

namespace elog {
namespace {

using eventlog::field_type;

/// The smallest type that holds all values.
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

std::vector<field_type> find_enumeration_types(const provider_schema& schema) {
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

/// Whether the word (ip4, ip6 or mac) means the field's type, count and format.
bool is_shorthand(const field_schema& field, std::string_view word) {
    const auto type = find_type(word);
    return type->type == field.type && type->count == field.count && type->format == field.format &&
           field.enumeration == schema_format::no_index;
}

std::string_view type_name(const field_schema& field) {
    for (const std::string_view word : {"ip4", "ip6", "mac"}) {
        if (is_shorthand(field, word)) {
            return word;
        }
    }
    return name_of(field.type);
}

/// Unique names of the enumerations in the text. Programs in C++ may have several of one name, from
/// several namespaces, or one with the name of a type; those get a number.
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
            label =
                enumeration.name.substr(0, schema_format::name_length_max - behind.size()) + behind;
        }
        labels.push_back(std::move(label));
    }
    return labels;
}

}  // namespace

type_text::type_text(const provider_schema& schema)
    : schema_(schema),
      enumeration_types_(find_enumeration_types(schema)),
      labels_(make_labels(schema)) {}

std::string type_text::bare(const field_schema& field) const {
    const std::string_view type = type_name(field);
    if (field.enumeration >= schema_.enumerations.size()) {
        return std::string(type);
    }
    const std::string& enumeration = labels_[field.enumeration];
    return enumeration_types_[field.enumeration] == field.type
               ? enumeration
               : fmt::format("{} as {}", type, enumeration);
}

std::string type_text::of(const field_schema& field) const {
    const bool is_short = type_name(field) != name_of(field.type);
    std::string words = bare(field);
    if (field.count == 0) {
        words += "[]";
    } else if (field.count != 1 && !is_short) {
        words += fmt::format("[{}]", field.count);
    }
    if (field.presence != schema_format::no_index) {
        words += '?';
    }
    if (field.format != eventlog::format::plain && !is_short) {
        words += fmt::format(" format {}", name_of(field.format));
    }
    if (!field.unit.empty()) {
        fmt::memory_buffer unit;
        append_quoted(unit, field.unit);
        words += fmt::format(" unit {}", std::string_view(unit.data(), unit.size()));
    }
    return words;
}

}  // namespace elog
