// SPDX-License-Identifier: MIT
//
// What the commands have in common that make recordings of recordings.
#pragma once

#include <string>

#include "command_line.hpp"
#include "record_copier.hpp"

namespace elog {

/// -o and --compress.
void add_copy_options(subcommand& command, copy_options& to);

/// On standard error: what is in the new file.
void tell_copied(const copy_summary& summary, const std::string& path);

}  // namespace elog
