// SPDX-License-Identifier: MIT
//
// From a payload to values, by the schema that came with it. The payload may be anything: what does
// not fit the schema comes out as `damaged`, never as a wrong value.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <variant>

#include "provider_schema.hpp"

namespace elog {

struct null_text {};
struct damaged_value {};

/// Views point into the payload.
using field_value = std::variant<bool, char, std::int64_t, std::uint64_t, float, double,
                                 std::string_view, null_text, damaged_value>;

[[nodiscard]] field_value decode_field(const field_schema& field,
                                       std::span<const std::uint8_t> payload) noexcept;

}  // namespace elog
