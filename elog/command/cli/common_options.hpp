// SPDX-License-Identifier: MIT
//
// Options that several commands declare alike.
#pragma once

#include "cli/command_line.hpp"

namespace elog {

/// Adds -o for the path of a new file. `Path` is std::string or an optional.
template <class Path>
command_option add_output_option(subcommand& command, Path& path, const char* description);

/// Adds --compress, and writes its level to `level`, which has to live until the command line has
/// been read; 0 means uncompressed.
void add_compress_option(subcommand& command, int& level);

}  // namespace elog
