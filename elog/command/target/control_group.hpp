// SPDX-License-Identifier: MIT
//
// The control groups of a process, which restrict its devices independently of its user.
#pragma once

#include <string_view>

namespace elog {

/// Moves this process into those control groups of another one that restrict devices. The arguments
/// are the contents of /proc/PID/cgroup of this and of the other process. Throws user_error, with
/// the reason alone, if that fails: a device that is closed to the other process would be open to
/// this one.
void join_control_groups(std::string_view own, std::string_view other);

}  // namespace elog
