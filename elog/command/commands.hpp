// SPDX-License-Identifier: MIT
//
// The subcommands of elog.
//
// Each function adds a subcommand to the command line or to a group; its action runs after the
// command line has been read. Actions throw user_error (exit status 1), usage_error (2),
// events_lost (3), failure_reported (1) or command_failed (the status of a command that elog record
// runs).
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.hpp"

namespace elog {

/// A recording has lost events, which has been reported, and --fail-on-loss makes that an error.
struct events_lost {};

/// The command of elog record has failed, which has been reported, and --exit-status makes that an
/// error.
struct command_failed {
    int status;
};

/// An error has been reported after which the work was completed.
struct failure_reported {};

void add_agg(command_line& line);
void add_completion(command_line& line);
/// The hidden command that completes a line. `words` are those after "--": the beginning of a
/// command line of elog. `line` has to live until the action has run, and have all subcommands
/// then.
void add_completion_query(command_line& line, const std::vector<std::string>& words);
void add_convert(command_line& line);
void add_cut(command_line& line);
void add_doctor(command_line& line);
void add_features(command_line& line);
void add_flight(command_line& line);
void add_help(command_line& line);
void add_kernel(command_line& line);
void add_list(command_line& line);
void add_merge(command_line& line);
void add_print(command_line& line);
/// `command` are the words after "--": a command to run while recording.
void add_record(command_line& line, const std::vector<std::string>& command);
void add_repair(command_line& line);
void add_run(command_line& line);
void add_schema(command_line& line);
void add_stat(command_line& line);
void add_top(command_line& line);
void add_verify(command_line& line);

void add_flight_pause(command_group& flight);
void add_flight_resume(command_group& flight);
void add_flight_snapshot(command_group& flight);
void add_flight_start(command_group& flight);
void add_flight_status(command_group& flight);
void add_flight_stop(command_group& flight);

void add_kernel_disable(command_group& kernel);
void add_kernel_enable(command_group& kernel);
void add_kernel_list(command_group& kernel);
void add_kernel_register(command_group& kernel);
void add_kernel_unregister(command_group& kernel);

void add_schema_bpftrace(command_group& schema);
void add_schema_gen(command_group& schema);
void add_schema_show(command_group& schema);

}  // namespace elog
