// SPDX-License-Identifier: MIT
//
// The files that a process maps. An exec keeps the process but not its mappings.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace eventlog::core {

/// False only if the process certainly does not map the file. Preconditions: the process is in this
/// pid namespace, and the file is open, because otherwise its inode number may belong to another
/// file. Allocates nothing: a child forked by a signal handler may find the heap half changed.
[[nodiscard]] bool may_map(std::uint32_t pid, dev_t device, ino_t inode) noexcept;

}  // namespace eventlog::core
