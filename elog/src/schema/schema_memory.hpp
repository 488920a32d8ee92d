// SPDX-License-Identifier: MIT
//
// The memory that a parsed schema takes, so that a reader of hostile files can limit it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "schema/provider_schema.hpp"

namespace elog {

[[nodiscard]] inline std::size_t memory_of(const std::string& text) noexcept {
    return text.capacity() < sizeof(std::string) ? 0 : text.capacity();
}

template <class Item>
[[nodiscard]] std::size_t memory_of(const std::vector<Item>& items) noexcept {
    return items.capacity() * sizeof(Item);
}

/// The memory of a parsed schema.
[[nodiscard]] inline std::size_t memory_of(const provider_schema& schema) noexcept {
    std::size_t sum = sizeof schema + memory_of(schema.binary) + memory_of(schema.description) +
                      memory_of(schema.keywords) + memory_of(schema.enumerations) +
                      memory_of(schema.events);
    for (const auto& [bit, name] : schema.keywords) {
        sum += memory_of(name);
    }
    for (const enumeration_schema& enumeration : schema.enumerations) {
        sum += memory_of(enumeration.values);
        for (const auto& [value, name] : enumeration.values) {
            sum += memory_of(name);
        }
    }
    for (const event_schema& event : schema.events) {
        sum += memory_of(event.name) + memory_of(event.description) + memory_of(event.when) +
               memory_of(event.fields);
        for (const field_schema& field : event.fields) {
            sum += memory_of(field.name) + memory_of(field.unit) + memory_of(field.description);
        }
    }
    return sum;
}

}  // namespace elog
