// SPDX-License-Identifier: MIT
//
// eventlog::request_snapshot: requests a snapshot from flight recorders.
#pragma once

#include <cstddef>
#include <string_view>

#include <eventlog/abi.h>

namespace eventlog {
inline namespace v0 {

/// Requests a snapshot from every flight recorder that is attached to this process: see
/// eventlog_request_snapshot (abi.h). At most 36 bytes of the reason are kept, up to the first NUL.
/// Returns the number of flight recorders that were asked. Any thread, any signal handler, any
/// forked child.
[[gnu::visibility("hidden")]] inline unsigned request_snapshot(
    std::string_view reason = {}) noexcept {
    // One byte more than is kept suffices: the library cuts between characters.
    constexpr std::size_t size_max = 37;
    char text[size_max + 1];
    std::size_t size = 0;
    for (; size < size_max && size < reason.size(); ++size) {
        text[size] = reason[size];
    }
    text[size] = '\0';
    return eventlog_request_snapshot(&text[0]);
}

}  // namespace v0
}  // namespace eventlog
