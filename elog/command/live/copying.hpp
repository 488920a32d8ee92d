// SPDX-License-Identifier: MIT
//
// What the commands have in common that make recordings of recordings.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "file/record_copier.hpp"

namespace elog {

/// How the new file is made, and how that is told.
struct copy_arguments {
    copy_options to;
    bool json = false;
};

/// -o, --compress and --json. The arguments must live until the command line has been read.
void add_copy_options(subcommand& command, copy_arguments& arguments);

/// What is in the new file, on standard error; or as JSON on standard output, which also names the
/// `damages` of the old ones. Throws failure or output_closed.
void print_copy_summary(const copy_summary& summary, const copy_arguments& arguments,
                        const std::vector<std::string>& damages);

}  // namespace elog
