// SPDX-License-Identifier: MIT
//
// Names of files for values, which may be hostile texts of any length.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace elog {

/// NAME=VALUE.elog with at most 160 bytes: letters, digits, _, -, + and points between two of these
/// are as they are; each other byte of the value is %XX, so that the name has no slash, space or
/// control character. Of a longer value the beginning is followed by ~NUMBER. Names of different
/// values differ if their numbers do. `name` is an identifier.
[[nodiscard]] std::string value_file_name(std::string_view name, std::string_view value,
                                          std::size_t number);

}  // namespace elog
