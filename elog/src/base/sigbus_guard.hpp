// SPDX-License-Identifier: MIT
//
// Lets the elog command survive access to a mapped file that another process has truncated.
//
// Without it such an access kills the process by SIGBUS. Code that reads regions or sets gates
// accesses no mapping (region_accessor.hpp, futex_atomic.hpp). The exception is the count of
// requested snapshots (snapshot_requests.hpp), which only the elog command maps. The handler maps
// an empty page at the address and records that it did.
#pragma once

namespace elog {

/// Installs the handler for the whole process. Call once, in main; a library must not change signal
/// handlers.
void install_sigbus_guard();

/// Whether any access hit a truncated mapping since the last call.
[[nodiscard]] bool mapping_was_truncated() noexcept;

}  // namespace elog
