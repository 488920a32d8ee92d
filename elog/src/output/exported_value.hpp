// SPDX-License-Identifier: MIT
//
// Values for other programs: numbers stay numbers in the unit that the schema names; other values
// become text. elog-output(7) specifies the formats.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "schema/decode.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

enum class exported_kind : std::uint8_t {
    nothing,  // an optional field without a value, a null text, a number that is not finite
    damaged,  // does not fit the schema
    literal,  // digits, true or false, in JSON syntax
    text,
};

struct exported_value {
    exported_kind kind = exported_kind::nothing;
    std::string_view text{};
};

/// A field. An array is a text with the JSON array. The text points into the payload or into
/// `scratch`, whose contents are replaced.
[[nodiscard]] exported_value export_field(fmt::memory_buffer& scratch,
                                          const provider_schema& provider,
                                          const field_schema& field,
                                          std::span<const std::uint8_t> payload);

/// Appends a field as a JSON value; `room` is a scratch buffer. Returns false if the field or one
/// of its elements is damaged, which becomes null.
bool append_json_field(fmt::memory_buffer& out, fmt::memory_buffer& room,
                       const provider_schema& provider, const field_schema& field,
                       std::span<const std::uint8_t> payload);

}  // namespace elog
