// SPDX-License-Identifier: MIT
//
// Reads and writes the text form of schemas, which elog-schema(5) specifies.
//
// An error message has file, line, column and reason. The parser guesses nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/user_error.hpp"
#include "schema/provider_schema.hpp"
#include "text/text_scanner.hpp"

namespace elog {

/// Larger than the text of any schema: 1 MiB with every byte written as \xHH.
inline constexpr std::size_t schema_text_size_max = std::size_t{8} << 20U;

/// A schema with the positions of its parts in the text, for error messages about them.
struct located_schema {
    std::string file;
    provider_schema schema;
    text_position provider;
    std::vector<text_position> enumerations;
    std::vector<text_position> events;
    std::vector<std::vector<text_position>> fields;  // by event

    /// Throws user_error: FILE:LINE:COLUMN: reason.
    [[noreturn]] void reject(text_position where, std::string_view reason) const;
};

/// `file` is the name for error messages. The result is complete: offsets, binary form and hash are
/// set. Throws user_error for the first mistake.
[[nodiscard]] located_schema parse_schema_text(std::string file, std::string_view text);

/// The normal form: parsing it gives the same bytes. If the binary schema has something that text
/// cannot express (other offsets, keywords without names), a comment at the top says so.
[[nodiscard]] std::string write_schema_text(const provider_schema& schema);

}  // namespace elog
