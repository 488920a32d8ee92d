// SPDX-License-Identifier: MIT
#include "schema/stack_field.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "schema/schema_binary.hpp"

namespace elog {
namespace {

bool has_field(const event_schema& event, std::string_view name) {
    return std::any_of(event.fields.begin(), event.fields.end(),
                       [&](const field_schema& field) { return field.name == name; });
}

}  // namespace

std::optional<std::uint16_t> add_stack_field(event_schema& event) {
    constexpr std::size_t alignment = sizeof(std::uint32_t);
    const std::size_t offset = (event.fixed_size + alignment - 1) / alignment * alignment;
    if (event.fields.size() >= schema_format::fields_max || offset + alignment > fixed_size_max) {
        return std::nullopt;
    }
    field_schema added;
    added.name = "stack";
    while (has_field(event, added.name)) {
        added.name += '_';
    }
    added.description = "Where the program was, the outermost function first";
    added.type = eventlog::field_type::text;
    added.offset = static_cast<std::uint16_t>(offset);
    event.fields.push_back(std::move(added));
    event.fixed_size = static_cast<std::uint16_t>(offset + alignment);
    return event.fields.back().offset;
}

std::shared_ptr<const provider_schema> with_stack_fields(const provider_schema& schema) {
    provider_schema made = schema;
    for (event_schema& event : made.events) {
        add_stack_field(event);
    }
    write_binary(made);
    return std::make_shared<const provider_schema>(std::move(made));
}

std::optional<std::uint16_t> stack_offset(const event_schema& before, const event_schema& with) {
    return with.fields.size() == before.fields.size() ? std::nullopt
                                                      : std::optional(with.fields.back().offset);
}

}  // namespace elog
