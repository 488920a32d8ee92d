// SPDX-License-Identifier: MIT
//
// Shows long output of a command in a pager.
//
// The pager gets its input from a child process, the feeder, which has the read end of a pipe;
// standard output, and standard error if it is the terminal too, become the write end. At the end
// of the process both are closed and the pager's end is awaited, also if a signal ends the process:
// otherwise the shell and the pager would read from the terminal at the same time. If the user
// quits the pager, writing throws output_closed, which is no error. A pager that fails is one
// unless nothing is lost.
#pragma once

#include <optional>
#include <string>

namespace elog {

/// The command of the pager from the environment: ELOG_PAGER, PAGER or less. Nothing if that is
/// empty or cat, or if the process has raised privileges.
[[nodiscard]] std::optional<std::string> find_pager();

/// Starts the pager, once, if standard input and output are a capable terminal and none of the
/// reasons against it holds. Without one, also if it cannot be started, the output is not changed.
/// Call before writing to standard output and before there are threads; never for live output.
void start_pager();

/// Ends the input of the pager, if there is one, and awaits its end. Returns the exit status of the
/// process, from that of the command: 1 in place of 0 if output is lost, which has been reported.
[[nodiscard]] int finish_pager(int status);

/// No pager from now on: --no-pager, or a command in another user's name or in a container, where
/// programs of the environment must not run.
void disable_pager() noexcept;

}  // namespace elog
