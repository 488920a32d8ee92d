// SPDX-License-Identifier: MIT
//
// Generates source code from schemas: one file per language that registers a schema of the same
// bytes and emits its events. The schemas have no sources: see remove_sources.
#pragma once

#include <string>
#include <string_view>

#include "schema/schema_text.hpp"

namespace elog {

// Throw user_error, FILE:LINE:COLUMN: reason, for schemas that the language cannot express.
[[nodiscard]] std::string generate_c(const located_schema& source);
[[nodiscard]] std::string generate_cpp(const located_schema& source);
/// `file` is the header's name without .h: the kernel includes the header again by name.
[[nodiscard]] std::string generate_kernel_c(const located_schema& source, std::string_view file);
[[nodiscard]] std::string generate_python(const located_schema& source);
[[nodiscard]] std::string generate_rust(const located_schema& source);

}  // namespace elog
