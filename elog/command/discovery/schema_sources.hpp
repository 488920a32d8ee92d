// SPDX-License-Identifier: MIT
//
// Where commands take schemas from.
#pragma once

#include <string>
#include <vector>

#include "schema/provider_schema.hpp"

namespace elog {

/// All that `source` has, each once. Letters, digits and _ are the name of a running provider, and
/// nothing means all of those that run; anything else is a file: a schema as text or in binary
/// form, a recording, or a program or shared object in which schemas were compiled. Complaints
/// about what cannot be read beside it go to standard error. Throws failure if a name or a file has
/// none; empty if nothing runs.
[[nodiscard]] std::vector<provider_schema> find_schemas(const std::string& source);

}  // namespace elog
