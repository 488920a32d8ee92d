// SPDX-License-Identifier: MIT
//
// ppoll(2) with a timeout of <chrono>.
#pragma once

#include <poll.h>

#include <chrono>
#include <ctime>
#include <span>

namespace elog {

/// Waits for events of `files`, no longer than `at_most`. The result is that of ppoll(2).
[[nodiscard]] inline int poll_for(std::span<pollfd> files, std::chrono::nanoseconds at_most) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at_most);
    const timespec time{static_cast<std::time_t>(seconds.count()),
                        static_cast<long>((at_most - seconds).count())};
    return ::ppoll(files.data(), files.size(), &time, nullptr);
}

}  // namespace elog
