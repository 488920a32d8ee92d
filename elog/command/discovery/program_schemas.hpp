// SPDX-License-Identifier: MIT
//
// The schemas in a program that need not run: the compiler has written them into it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/provider_schema.hpp"

namespace elog {

/// Whether a file that begins like that is a program or a shared object (ELF).
[[nodiscard]] bool is_program(std::string_view content) noexcept;

/// All schemas in it, each once, in the order in which they stand there. They are told by their
/// first bytes, and believed if everything in them is sound, their hash included. Providers of
/// libraries that it loads, and those that are defined at run time, are not among them. Throws
/// failure if there is none, or the file cannot be read.
[[nodiscard]] std::vector<provider_schema> read_program(const std::string& path);

}  // namespace elog
