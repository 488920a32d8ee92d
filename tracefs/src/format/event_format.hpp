// SPDX-License-Identifier: MIT
//
// Parses the kernel's description of a trace event (its file `format`) into fields with types and
// locations.
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

/// Location of a field's bytes.
enum class location {
    fixed,           // at the field's offset
    data_loc,        // __data_loc: the field holds size and offset from the start of the record
    rel_loc,         // __rel_loc: the same, with the offset from the end of the field
    rest_of_record,  // from the field's offset to the end of the record
};

struct format_field {
    std::string name;  // a valid identifier
    field_type type{};
    std::uint16_t count = 1;  // 0: a sequence
    format how = format::plain;
    location where = location::fixed;
    std::uint32_t offset = 0;  // in the record
    std::uint32_t size = 0;    // size of the field itself
};

struct event_format {
    std::string system;
    std::string name;
    std::uint16_t id = 0;  // stored at the start of each record
    std::vector<format_field> fields;

    /// Minimum size of a record.
    [[nodiscard]] std::size_t fixed_size() const noexcept;
};

/// Bytes in front of the fields of each event: id, flags and thread.
inline constexpr std::size_t common_size = 8;

/// The word of a null text at that offset in a record with __data_loc: the kernel module lets it
/// point to its own NUL.
[[nodiscard]] constexpr std::uint32_t null_string_word(std::size_t offset) noexcept {
    const std::size_t nul = std::endian::native == std::endian::little ? 3 : 0;
    return 1U << 16U | static_cast<std::uint32_t>(offset + nul);
}

/// The common fields that are used.
struct common_fields {
    std::uint16_t event = 0;  // id of the format
    std::uint32_t thread = 0;
};

/// Nothing if the record is too short.
[[nodiscard]] std::optional<common_fields> parse_common_fields(
    std::span<const std::uint8_t> record) noexcept;

/// Turns a name into an identifier: letters, digits and _, not starting with a digit, of limited
/// length.
[[nodiscard]] std::string make_identifier(std::string_view name);

/// Parses the content of a file `format`. Throws error if it is invalid or exceeds the limits of a
/// schema.
[[nodiscard]] event_format parse_format(std::string_view text, const std::string& system);

}  // namespace eventlog::tracefs
