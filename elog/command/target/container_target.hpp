// SPDX-License-Identifier: MIT
//
// The option --at PID: elog runs in the container of another process.
#pragma once

#include <string>
#include <vector>

namespace elog {

/// Removes "--at PID" from the front of the words, if it is there, and moves this process to the
/// place of that one.
///
/// - It enters those namespaces of users, mounts, processes, IPC and time that differ, the root
///   directory, and the control groups that restrict devices.
/// - It gets the user and groups of that process and keeps no privileges, so a process that opens
///   hostile files of a container has no more rights than the processes of the container.
/// - It gets EVENTLOG_DIR of that process.
/// - It runs and loads nothing of the container: refuses subcommands for which the C library would
///   load code from there, and a command to be run.
///
/// If the namespace of processes differs, returns in a child; this process becomes its proxy (see
/// pid_namespace_proxy.hpp). To be called before there are threads and before anything is opened.
/// Throws usage_error if there is no such process, and user_error if this one may not enter its
/// place.
void enter_named_process(std::vector<std::string>& words, bool has_command);

/// Whether enter_named_process() has moved this process. Names of users and groups must not be
/// looked up then.
[[nodiscard]] bool is_in_container() noexcept;

}  // namespace elog
