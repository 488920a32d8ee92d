// SPDX-License-Identifier: MIT
//
// The names in text_options, resolved once for all records of an event.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "output/text_options.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

struct selected_field {
    std::string label;  // " FIELD="
    std::uint16_t index = 0;
};

/// A constant text, a field, or a value of the record.
struct template_step {
    line_part_kind kind = line_part_kind::text;
    std::uint16_t index = 0;  // of a field
    std::string text{};
};

/// The event's fields that the options select.
[[nodiscard]] std::vector<selected_field> select_fields(const text_options& options,
                                                        const event_schema& event);

/// Resolves a template for an event. Values that are the same for all records become text.
[[nodiscard]] std::vector<template_step> compile_template(
    const line_template& line, const provider_schema& provider, const event_schema& event,
    const std::vector<selected_field>& fields);

}  // namespace elog
