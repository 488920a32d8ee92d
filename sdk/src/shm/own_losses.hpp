// SPDX-License-Identifier: MIT
//
// Whether a provider of this process that is withdrawn has lost events that readers of a
// subscription still have to learn of.
#pragma once

#include "platform/unique_fd.hpp"
#include "shm/directory.hpp"
#include "shm/own_process_file.hpp"

namespace eventlog::core {

/// True also if it is not known. `file`: the process file of the place, with that name; may be
/// empty. A provider that has lost nothing costs one read of its counters, or none while it reads
/// the shared gate. Under the registry lock.
[[nodiscard]] bool may_have_unread_losses(const directory& where, const unique_fd& file,
                                          const char* name, const published_place& place) noexcept;

}  // namespace eventlog::core
