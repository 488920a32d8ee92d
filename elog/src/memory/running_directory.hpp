// SPDX-License-Identifier: MIT
//
// The shared directory, for reading what runs.
#pragma once

#include <optional>

#include "shm/directory.hpp"

namespace elog {

/// Opens the directory that programs and consumers share, and removes files of dead processes.
/// Returns nothing if there is no directory: then nothing is published. Throws user_error if it is
/// not usable.
[[nodiscard]] std::optional<eventlog::core::directory> open_running_directory();

}  // namespace elog
