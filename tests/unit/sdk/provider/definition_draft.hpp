// SPDX-License-Identifier: MIT
//
// A definition that a test changes before it is checked and built.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <eventlog/eventlog.h>

#include "provider/definition.hpp"

namespace definition_test {

using eventlog::core::built_definition;
using eventlog::core::definition_error;

/// A modifiable definition that owns everything it points to.
struct draft {
    std::vector<eventlog_keyword_definition> keywords;
    std::vector<eventlog_value_definition> values;
    eventlog_enumeration_definition enumeration{"color", nullptr, 0, false};
    std::vector<eventlog_field_definition> fields;
    std::vector<eventlog_event_definition> events;
    eventlog_definition all{EVENTLOG_DEFINITION_SIZES, .name = "drafted"};

    /// Sets the pointers to the current contents of the vectors.
    const eventlog_definition& joined() {
        enumeration.values = values.data();
        enumeration.value_count = static_cast<std::uint32_t>(values.size());
        events.at(0).fields = fields.data();
        events.at(0).field_count = static_cast<std::uint32_t>(fields.size());
        all.keywords = keywords.data();
        all.keyword_count = static_cast<std::uint32_t>(keywords.size());
        all.events = events.data();
        all.event_count = static_cast<std::uint32_t>(events.size());
        return all;
    }
};

inline draft valid_definition() {
    draft made;
    made.keywords = {{"one", 0}};
    made.values = {{"red", 0}};
    made.fields = {{.name = "first", .type = EVENTLOG_TYPE_UNSIGNED_32},
                   {.name = "second", .type = EVENTLOG_TYPE_TEXT}};
    made.events = {{.name = "happened"}, {.name = "again"}};
    return made;
}

struct outcome {
    eventlog_error code;
    std::string text;
};

/// Checks and builds without publishing; `view` receives the result.
inline outcome build(const eventlog_definition& definition,
                     const std::function<void(const built_definition&)>& view = nullptr) {
    definition_error error;
    const built_definition* built = nullptr;
    eventlog_error code = eventlog::core::check_definition(definition, error);
    if (code == EVENTLOG_ERROR_NONE) {
        code = eventlog::core::build_definition(definition, built, error);
    }
    if (view && built != nullptr) {
        view(*built);
    }
    std::free(const_cast<built_definition*>(built));
    std::array<char, EVENTLOG_TEXT_SIZE> text{};
    error.copy_to(text.data(), text.size());
    return {code, text.data()};
}

}  // namespace definition_test
