// SPDX-License-Identifier: MIT
//
// What the kernel says about the fields of a trace event, in our words.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <eventlog/schema_format.hpp>

namespace eventlog::tracefs {

/// Where the bytes of a field are.
enum class location {
    fixed,           // in its place
    data_loc,        // __data_loc: its place says where, from the beginning of the record
    rel_loc,         // __rel_loc: the same, from the end of its place
    rest_of_record,  // in its place, up to the end of the record
};

struct format_field {
    std::string name;  // an identifier
    field_type type{};
    std::uint16_t count = 1;
    format how = format::plain;
    location where = location::fixed;
    std::uint32_t offset = 0;  // in the record
    std::uint32_t size = 0;    // of its place
};

struct event_format {
    std::string system;
    std::string name;
    std::uint16_t id = 0;  // which each record begins with
    std::vector<format_field> fields;

    /// Bytes that each of its records has at least.
    [[nodiscard]] std::size_t fixed_size() const noexcept;
};

/// Bytes in front of the fields of each event: its id, flags, and the thread.
inline constexpr std::size_t common_size = 8;

/// The word, at that place in a record, of a text that is not there, where words point from the
/// record's beginning: the kernel module has it point to its own NUL.
[[nodiscard]] constexpr std::uint32_t null_string_word(std::size_t offset) noexcept {
    const std::size_t nul = std::endian::native == std::endian::little ? 3 : 0;
    return 1U << 16U | static_cast<std::uint32_t>(offset + nul);
}

/// What of these everybody has to know.
struct common_fields {
    std::uint16_t event = 0;  // the id of its format
    std::uint32_t thread = 0;
};

/// Nothing: the record is too short for them.
[[nodiscard]] std::optional<common_fields> parse_common_fields(
    std::span<const std::uint8_t> record) noexcept;

/// Names as every tool takes them: letters, digits and _, no digit first, and not too many.
[[nodiscard]] std::string make_identifier(std::string_view name);

/// Reads what stands in an event's file `format`. Throws error for what makes no sense, or is more
/// than a schema can say.
[[nodiscard]] event_format parse_format(std::string_view text, const std::string& system);

}  // namespace eventlog::tracefs
