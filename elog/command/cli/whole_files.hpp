// SPDX-License-Identifier: MIT
//
// Reading and writing of small files as a whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace elog {

/// The content of the file, or at least `size` bytes of a larger one. Throws user_error.
[[nodiscard]] std::string read_file_up_to(const std::string& path, std::size_t size);

/// Writes to a new or truncated file, or to standard output if `path` is empty or -. Throws
/// user_error or output_closed.
void write_whole_file(const std::string& path, std::string_view content);

}  // namespace elog
