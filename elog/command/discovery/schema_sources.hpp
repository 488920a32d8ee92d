// SPDX-License-Identifier: MIT
//
// The sources of schemas for commands.
#pragma once

#include <string>
#include <vector>

#include "schema/provider_schema.hpp"

namespace elog {

/// All schemas of `source`, each once. A source of letters, digits and _ is the name of a running
/// provider; an empty one means all running providers; anything else is a file or a pipe, - for
/// standard input: a schema in text or binary form, a recording, or a program or shared object with
/// compiled-in schemas. Damage beside them is reported on standard error. Throws user_error if a
/// name or a file has no schema; the result is empty if nothing runs.
[[nodiscard]] std::vector<provider_schema> find_schemas(const std::string& source);

}  // namespace elog
