// SPDX-License-Identifier: MIT
//
// The schemas that the compiler has written into a program, which need not run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/provider_schema.hpp"

namespace elog {

/// Whether a file with this beginning is a program or a shared object (ELF).
[[nodiscard]] bool is_program(std::string_view content) noexcept;

/// All schemas in the file, each once, in the order of their offsets. A schema is found by its
/// magic bytes and accepted if all of it is valid, including its hash. Providers of shared
/// libraries that the program loads and providers defined at run time are not in its file. `name`:
/// of the file, for messages. Throws user_error if there is no schema, or the file cannot be read.
[[nodiscard]] std::vector<provider_schema> read_program(const std::string& path,
                                                        const std::string& name);

}  // namespace elog
