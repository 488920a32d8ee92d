// SPDX-License-Identifier: MIT
//
// elog --at PID: takes part where another process does, in its container.
#pragma once

#include <string>
#include <vector>

namespace elog {

/// Takes "--at PID" from the front of the words, if it stands there, and goes where that process
/// is: into its namespaces of users, mounts, processes, IPC and time where they are others, and
/// below its root directory; in its control groups, where they say which devices may be opened;
/// with the user and groups that it has, and none of the rights that this one had. EVENTLOG_DIR
/// becomes that of the process. So whatever has been put into a container has been put before a
/// process that may do no more than one of the container's. Of files there nothing is run or
/// loaded: refuses what would have the C library do so,
/// and a command to be run there.
///
/// Returns in a child, for which this process stands (see pid_namespace_proxy.hpp),
/// where that is another namespace of processes. Call it before there are threads, and before
/// anything is opened. Throws usage_error if there is no such process, and failure if this one
/// may not go there.
void enter_named_process(std::vector<std::string>& words, bool has_command);

}  // namespace elog
