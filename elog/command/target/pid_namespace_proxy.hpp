// SPDX-License-Identifier: MIT
#pragma once

namespace elog {

/// Returns in a child of this process only, which goes on in its place. This process stays, and
/// stands for the child: it hands signals on to it, stops and goes on when it does, and ends as it
/// does. If this process is killed, the child gets SIGTERM. Call it before there are threads.
/// Throws failure if there can be no child.
void fork_with_proxy();

}  // namespace elog
