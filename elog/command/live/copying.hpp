// SPDX-License-Identifier: MIT
//
// Options and summary of commands that write a recording made from other recordings.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/output_file.hpp"
#include "file/record_copier.hpp"

namespace elog {

/// How the new file is written, and its summary.
struct copy_arguments {
    output_arguments output;
    int compression = 0;
    bool json = false;

    /// For a writer to that file.
    [[nodiscard]] copy_options options(const output_file& file) const {
        return {file.path(), compression};
    }
};

/// Adds -o, --force, --mode, --compress and --json. The arguments have to live until the command
/// line has been read.
void add_copy_options(subcommand& command, copy_arguments& arguments);

/// Throws usage_error if a description of the new file as JSON would go to standard output together
/// with the file.
void check_description(const output_arguments& output, bool json);

/// Writes a summary of the new file to standard error, or as JSON, with the `damages` of the old
/// ones, to standard output. Throws user_error or output_closed.
void print_copy_summary(const copy_summary& summary, const copy_arguments& arguments,
                        const std::vector<std::string>& damages);

}  // namespace elog
