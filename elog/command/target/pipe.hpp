// SPDX-License-Identifier: MIT
//
// A pipe between a process and its child.
#pragma once

#include "platform/unique_fd.hpp"

namespace elog {

struct pipe_ends {
    eventlog::core::unique_fd read;
    eventlog::core::unique_fd write;
};

/// A pipe whose ends are closed by exec. Throws user_error.
[[nodiscard]] pipe_ends make_pipe();

}  // namespace elog
