// SPDX-License-Identifier: MIT
//
// Stop requests by signal, after which a recording ends in order.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace elog {

/// From now on SIGINT, SIGTERM and SIGHUP only count a request.
void catch_stop_signals();

struct stop_request {
    int count = 0;             // number of requests
    int signal = 0;            // the last one
    bool by_terminal = false;  // the terminal sent it to the recorded command as well
};

[[nodiscard]] stop_request stop_requested() noexcept;

/// Returns a condition that is true after a stop request, or after that time, which begins with the
/// first call. Throws usage_error for an invalid time.
[[nodiscard]] std::function<bool()> make_stop_condition(const std::optional<std::string>& duration);

}  // namespace elog
