// SPDX-License-Identifier: MIT
//
// The subcommands of elog. Each adds itself to the command line; what it then does, it does when
// the command line has been read. They throw failure (exit status 1), usage_error (2) or
// events_lost (3).
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/usage_error.hpp"

namespace elog {

/// A recording went well, but for events that were lost, as has been told, and that is to be an
/// error.
struct events_lost {};

void add_agg(command_line& line);
/// `words` is what stands behind "--": the beginning of a command line of elog. `line` must live
/// when the command line has been read, and has all subcommands then.
void add_completion(command_line& line, const std::vector<std::string>& words);
void add_convert(command_line& line);
void add_cut(command_line& line);
void add_disable(command_line& line);
void add_doctor(command_line& line);
void add_enable(command_line& line);
void add_events(command_line& line);
void add_features(command_line& line);
void add_gen(command_line& line);
void add_list(command_line& line);
void add_merge(command_line& line);
void add_print(command_line& line);
void add_register(command_line& line);
void add_repair(command_line& line);
void add_schema(command_line& line);
void add_snapshot(command_line& line);
void add_start(command_line& line);
void add_stat(command_line& line);
void add_status(command_line& line);
void add_stop(command_line& line);
void add_top(command_line& line);
void add_unregister(command_line& line);
void add_verify(command_line& line);
/// `command` is what stands behind "--", to be run while recording.
void add_record(command_line& line, const std::vector<std::string>& command);

}  // namespace elog
