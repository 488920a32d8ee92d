// SPDX-License-Identifier: MIT
//
// Options that several commands declare alike.
#pragma once

#include "cli/command_line.hpp"

namespace elog {

/// Adds --compress, and writes its level to `level`, which has to live until the command line has
/// been read; 0 means uncompressed.
void add_compress_option(subcommand& command, int& level);

}  // namespace elog
