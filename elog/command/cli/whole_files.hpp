// SPDX-License-Identifier: MIT
//
// Whole files in and out, for commands that work on small ones.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace elog {

/// The file, or at least `size` bytes of it if it is larger. Throws failure if it cannot be read.
[[nodiscard]] std::string read_file_up_to(const std::string& path, std::size_t size);

/// To a file that is made or replaced, or to standard output if `path` is empty. Throws failure, or
/// output_closed.
void write_whole_file(const std::string& path, std::string_view content);

}  // namespace elog
