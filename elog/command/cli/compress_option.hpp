// SPDX-License-Identifier: MIT
//
// --compress, which means the same for every command that writes a file.
#pragma once

#include "cli/command_line.hpp"

namespace elog {

/// The level goes to `level`, which must live until the command line has been read; 0 is none.
void add_compress_option(subcommand& command, int& level);

}  // namespace elog
