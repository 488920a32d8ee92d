// SPDX-License-Identifier: MIT
//
// A parsed schema: the source of everything that elog knows about events.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <eventlog/schema_format.hpp>

namespace elog {

namespace schema_format = eventlog::schema_format;

struct field_schema {
    std::string name;
    eventlog::field_type type{};
    std::uint16_t offset = 0;
    std::uint16_t count = 1;
    std::uint16_t presence = schema_format::no_index;
    std::uint16_t enumeration = schema_format::no_index;  // index into the provider's
    eventlog::format format = eventlog::format::plain;
    std::string unit{};
    std::string description{};
};

struct enumeration_schema {
    std::string name;
    bool is_bitmask = false;
    std::vector<std::pair<std::uint64_t, std::string>> values;  // sign-extended to 64 bits
};

/// The line of a program that declares a provider or an event.
struct source_place {
    std::string file;        // without directories
    std::uint32_t line = 0;  // 0: unknown
};

struct event_schema {
    std::string name;
    std::string description;
    std::string when;
    eventlog::level severity = eventlog::level::info;
    eventlog::kind kind = eventlog::kind::instant;
    bool session_bound = false;
    bool truncates = false;
    std::uint64_t keywords = 0;
    std::uint16_t fixed_size = 0;
    std::vector<field_schema> fields;  // in declared order
    source_place source{};
};

struct provider_schema {
    std::string name;
    std::string description;
    std::uint64_t hash = 0;
    std::vector<std::pair<unsigned, std::string>> keywords;  // bit and name
    std::vector<enumeration_schema> enumerations;
    std::vector<event_schema> events;  // the index is the id
    std::vector<std::uint8_t> binary;
    source_place source{};
    std::size_t unknown_attributes = 0;  // those in `binary` that only a newer version knows

    /// Throws user_error if the bytes are not a whole and valid schema.
    [[nodiscard]] static provider_schema parse(std::span<const std::uint8_t> bytes);
};

/// Adds the schema unless an equal one is there.
void add_unique(std::vector<provider_schema>& schemas, provider_schema added);

/// Names in the schema language and in output: u32, text, hexadecimal, info, ...
[[nodiscard]] std::string_view name_of(eventlog::field_type type) noexcept;
[[nodiscard]] std::string_view name_of(eventlog::format how) noexcept;
[[nodiscard]] std::string_view name_of(eventlog::level severity) noexcept;
[[nodiscard]] std::string_view name_of(eventlog::kind what) noexcept;

/// A provider of a subscription or a file; records refer to it by its number.
struct provider_instance {
    std::uint32_t id = 0;
    std::uint32_t pid = 0;
    std::uint32_t uid = 0;
    std::string process;
    provider_schema schema;
    std::uint64_t start_time = 0;  // of the process, in clock ticks after boot; 0: unknown
    std::uint32_t parent = 0;      // of the process when it attached; 0: unknown
    std::uint32_t event_base = 0;  // number of the schema's first event; 0: it has no numbers
};

using provider_map = std::unordered_map<std::uint32_t, provider_instance>;  // by id

/// A key for tables by provider and event.
[[nodiscard]] constexpr std::uint64_t event_key(std::uint32_t provider,
                                                std::uint16_t event) noexcept {
    return std::uint64_t{provider} << 16U | event;
}

}  // namespace elog
