// SPDX-License-Identifier: MIT
//
// Ctrl-C and its relatives end a recording in good order.
#pragma once

namespace elog {

/// SIGINT, SIGTERM and SIGHUP are only noted from now on.
void catch_stop_signals();

struct stop_request {
    int count = 0;             // how often it has been asked for
    int signal = 0;            // the last one
    bool by_terminal = false;  // it went to the command that we run, too
};

[[nodiscard]] stop_request stop_requested() noexcept;

}  // namespace elog
