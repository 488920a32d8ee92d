// SPDX-License-Identifier: MIT
//
// Options that several commands declare alike.
#pragma once

#include <optional>
#include <string>

#include "cli/command_line.hpp"

namespace elog {

/// Adds -o for the path of a new file. `Path` is std::string or an optional.
template <class Path>
command_option add_output_option(subcommand& command, Path& path, const char* description);

/// Throws usage_error for -, which other commands take for standard output: a recording that is
/// being written has a name, so that others can read it meanwhile.
void check_is_file_name(const std::optional<std::string>& path);

/// Adds --compress, and writes its level to `level`, which has to live until the command line has
/// been read; 0 means uncompressed.
void add_compress_option(subcommand& command, int& level);

}  // namespace elog
