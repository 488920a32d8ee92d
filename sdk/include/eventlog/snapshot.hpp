// SPDX-License-Identifier: MIT
//
// Asking for a snapshot of what flight recorders hold.
#pragma once

#include <cstddef>
#include <string_view>

#include <eventlog/abi.h>

namespace eventlog {

/// Asks for a snapshot of every flight recorder that hears this process, and says why: see
/// eventlog_snapshot (abi.h). Of the reason 36 bytes are kept, up to a NUL if it has one. Returns
/// how many were asked. Any thread, any signal handler, any forked child.
[[gnu::visibility("hidden")]] inline unsigned snapshot(std::string_view reason = {}) noexcept {
    // One more than is kept is enough: the library cuts between characters.
    constexpr std::size_t size_max = 37;
    char text[size_max + 1];
    std::size_t size = 0;
    for (; size < size_max && size < reason.size(); ++size) {
        text[size] = reason[size];
    }
    text[size] = '\0';
    return eventlog_snapshot(&text[0]);
}

}  // namespace eventlog
