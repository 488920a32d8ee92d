// SPDX-License-Identifier: MIT
//
// Reading of small files as a whole.
#pragma once

#include <cstddef>
#include <string>

namespace elog {

/// The content of the file, or at least `size` bytes of a larger one. Throws user_error.
[[nodiscard]] std::string read_file_up_to(const std::string& path, std::size_t size);

}  // namespace elog
