// SPDX-License-Identifier: MIT
//
// A process between elog and its pager, which knows how much of the output the pager has read.
//
// A writer cannot find out whether a failed pager has read anything from a pipe. The feeder holds
// both ends of the pager's pipe: it counts what it writes, and reads what the pager leaves in it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace elog {

/// Starts a feeder, which starts the pager and passes on what it reads from `input`. `output` is
/// the other end of that pipe, which only the caller keeps. Nothing if one of the two processes
/// cannot be started. Call while there is one thread.
///
/// The feeder ends after the pager, with status 0 unless output is lost, which it reports:
/// - The pager succeeds, is ended by its user, or has read everything: the rest is dropped.
/// - It fails before it has read anything: the feeder writes everything to standard output.
/// - It fails later: status 1.
[[nodiscard]] std::optional<pid_t> start_pager_feeder(const std::string& command, int input,
                                                      int output);

}  // namespace elog
