// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <chrono>
#include <ctime>
#include <span>

namespace elog {

/// ppoll(2), for that time at most.
[[nodiscard]] inline int poll_for(std::span<pollfd> files, std::chrono::nanoseconds at_most) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at_most);
    const timespec time{static_cast<std::time_t>(seconds.count()),
                        static_cast<long>((at_most - seconds).count())};
    return ::ppoll(files.data(), files.size(), &time, nullptr);
}

}  // namespace elog
