// SPDX-License-Identifier: MIT
//
// Maps words of the schema language to types, formats, levels and kinds; ranges of integer types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schema/provider_schema.hpp"

namespace elog {

/// The meaning of a type word: u32, text, ...; ip4, ip6 and mac are arrays with a format.
struct type_word {
    eventlog::field_type type{};
    std::uint16_t count = 1;
    eventlog::format format = eventlog::format::plain;
};

[[nodiscard]] std::optional<type_word> find_type(std::string_view word) noexcept;
[[nodiscard]] std::optional<eventlog::format> find_format(std::string_view word) noexcept;
[[nodiscard]] std::optional<eventlog::level> find_level(std::string_view word) noexcept;
[[nodiscard]] std::optional<eventlog::kind> find_kind(std::string_view word) noexcept;

/// All words of their kind, for error messages: "u8, u16, ...".
[[nodiscard]] std::string list_types();
[[nodiscard]] std::string list_formats();

[[nodiscard]] bool is_signed(eventlog::field_type type) noexcept;

/// Whether an integer type can hold the number.
[[nodiscard]] bool fits(eventlog::field_type type, bool negative, std::uint64_t magnitude) noexcept;

}  // namespace elog
