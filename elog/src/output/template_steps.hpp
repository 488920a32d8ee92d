// SPDX-License-Identifier: MIT
//
// What text_options ask for, looked up once for all records of an event.
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

/// Text, a field, or something that is another for each record.
struct template_step {
    line_part_kind kind = line_part_kind::text;
    std::uint16_t index = 0;  // of a field
    std::string text{};
};

/// Fields that the event has and the options want.
[[nodiscard]] std::vector<selected_field> select_fields(const text_options& options,
                                                        const event_schema& event);

/// How a template is filled in, with those fields. What is the same for all records is text.
[[nodiscard]] std::vector<template_step> compile_template(
    const line_template& line, const provider_schema& provider, const event_schema& event,
    const std::vector<selected_field>& fields);

}  // namespace elog
