// SPDX-License-Identifier: MIT
//
// Values for other programs: numbers stay numbers, in the unit that the schema names, and only what
// is no number to anyone becomes text. elog(1) says how each looks.
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
    literal,  // digits, true or false, as JSON and everything else has them
    text,
};

struct exported_value {
    exported_kind kind = exported_kind::nothing;
    std::string_view text{};
};

/// A field. One that is an array, as a text with the JSON array. The text points into the payload
/// or into `scratch`, whose content it replaces.
[[nodiscard]] exported_value export_field(fmt::memory_buffer& scratch,
                                          const provider_schema& provider,
                                          const field_schema& field,
                                          std::span<const std::uint8_t> payload);

/// A field as a JSON value, with `room` for one value at a time. Returns false if it, or an element
/// of it, is damaged: that is null.
bool append_json_field(fmt::memory_buffer& out, fmt::memory_buffer& room,
                       const provider_schema& provider, const field_schema& field,
                       std::span<const std::uint8_t> payload);

}  // namespace elog
