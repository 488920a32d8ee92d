// SPDX-License-Identifier: MIT
//
// A catalogue as people and as programs read it; elog-list(1) says how it looks.
#pragma once

#include <string>
#include <vector>

#include "discovery/catalogue.hpp"
#include "schema/provider_schema.hpp"
#include "terminal/terminal.hpp"

namespace elog {

/// For people: lines that end where the terminal does. With `stats`, what each process has written
/// and lost.
[[nodiscard]] std::string catalogue_as_text(const catalogue& shown, const terminal_style& style,
                                            bool stats);

/// For programs: all that is known, as one JSON object and a newline. Bytes that are not UTF-8 come
/// out as U+FFFD.
[[nodiscard]] std::string catalogue_as_json(const catalogue& shown);

/// Schemas as they stand in that, without what runs.
[[nodiscard]] std::string schemas_as_json(const std::vector<provider_schema>& schemas);

}  // namespace elog
