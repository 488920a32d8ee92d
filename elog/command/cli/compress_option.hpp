// SPDX-License-Identifier: MIT
//
// The option --compress, the same for every command that writes a file.
#pragma once

#include "cli/command_line.hpp"

namespace elog {

/// Writes the level to `level`, which has to live until the command line has been read; 0 means
/// uncompressed.
void add_compress_option(subcommand& command, int& level);

}  // namespace elog
