// SPDX-License-Identifier: MIT
//
// The control groups of a process, which say what devices it may open, whoever it is.
#pragma once

#include <string_view>

namespace elog {

/// Puts this process into the groups that another one is in, of those that may say so. Both are
/// what the files `cgroup` of the two in /proc say. Throws failure, with the reason alone, if that
/// cannot be done: then what is closed to the other one would be open to this one.
void join_control_groups(std::string_view own, std::string_view other);

}  // namespace elog
