// SPDX-License-Identifier: MIT
//
// Schemas as people write and read them; elog-schema(5) is the specification. What is refused is
// refused with file, line, column and the reason; nothing is ever guessed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/user_error.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

/// Counted from 1, in lines and in characters.
struct text_position {
    std::size_t line = 1;
    std::size_t column = 1;
};

/// More than any schema of 1 MiB takes, every byte of it written as \xHH.
inline constexpr std::size_t schema_text_size_max = std::size_t{8} << 20U;

/// A schema with the places where its parts stand in the text, for complaints about them.
struct located_schema {
    std::string file;
    provider_schema schema;
    text_position provider;
    std::vector<text_position> enumerations;
    std::vector<text_position> events;
    std::vector<std::vector<text_position>> fields;  // by event

    /// Throws failure: FILE:LINE:COLUMN: reason.
    [[noreturn]] void reject(text_position where, std::string_view reason) const;
};

/// `file` is only its name. The schema comes out whole, laid out, with binary form and hash. Throws
/// failure for the first mistake.
[[nodiscard]] located_schema parse_schema_text(std::string file, std::string_view text);

/// The normal form: read back it gives the same bytes. What a binary schema can say and a text
/// cannot (fields in other places, keywords without names) is told in a comment at its top.
[[nodiscard]] std::string write_schema_text(const provider_schema& schema);

}  // namespace elog
