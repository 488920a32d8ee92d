// SPDX-License-Identifier: MIT
//
// Starts the command of a pager.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <optional>
#include <string>

namespace elog {

/// The process, which reads from `input` and blocks the signals of `mask`; nothing if it cannot be
/// started.
[[nodiscard]] std::optional<pid_t> spawn_pager(const std::string& command, int input,
                                               const sigset_t& mask);

}  // namespace elog
