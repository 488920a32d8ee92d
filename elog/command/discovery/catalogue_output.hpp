// SPDX-License-Identifier: MIT
//
// A catalogue as text and as JSON; elog-list(1) describes both.
#pragma once

#include <string>
#include <vector>

#include "discovery/catalogue.hpp"
#include "schema/provider_schema.hpp"
#include "terminal/terminal.hpp"

namespace elog {

/// Text in lines as wide as the terminal. `stats` adds written and lost events of each process.
[[nodiscard]] std::string catalogue_as_text(const catalogue& shown, const terminal_style& style,
                                            bool stats);

/// Everything as one JSON object and a newline. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string catalogue_as_json(const catalogue& shown);

/// Schemas in the same form, without processes and listeners.
[[nodiscard]] std::string schemas_as_json(const std::vector<provider_schema>& schemas);

}  // namespace elog
