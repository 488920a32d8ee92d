// SPDX-License-Identifier: MIT
//
// Stop requests by signal, after which a recording ends in order.
#pragma once

namespace elog {

/// From now on SIGINT, SIGTERM and SIGHUP only count a request.
void catch_stop_signals();

struct stop_request {
    int count = 0;             // number of requests
    int signal = 0;            // the last one
    bool by_terminal = false;  // the terminal sent it to the recorded command as well
};

[[nodiscard]] stop_request stop_requested() noexcept;

}  // namespace elog
