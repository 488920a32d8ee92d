// SPDX-License-Identifier: MIT
//
// A process as a proxy of its child in another pid namespace.
#pragma once

namespace elog {

/// Forks, and returns only in the child, which continues the work. This process stays as a proxy:
/// it forwards signals, stops and continues with the child, and ends as the child ends. If this
/// process is killed, the child gets SIGTERM. To be called before there are threads. Throws
/// user_error if there can be no child.
void fork_with_proxy();

}  // namespace elog
