// SPDX-License-Identifier: MIT
//
// The subcommands of elog. Each adds itself to the command line; what it then does, it does when
// the command line has been read. They throw failure (exit status 1) or usage_failure (2).
#pragma once

#include <string>
#include <vector>

#include "command_line.hpp"
#include "usage_failure.hpp"

namespace elog {

void add_agg(command_line& line);
void add_convert(command_line& line);
void add_doctor(command_line& line);
void add_gen(command_line& line);
void add_list(command_line& line);
void add_print(command_line& line);
void add_register(command_line& line);
void add_repair(command_line& line);
void add_schema(command_line& line);
void add_stat(command_line& line);
void add_unregister(command_line& line);
void add_verify(command_line& line);
/// `command` is what stands behind "--", to be run while recording.
void add_record(command_line& line, const std::vector<std::string>& command);

}  // namespace elog
