// SPDX-License-Identifier: MIT
//
// The log of a flight recorder's pauses, behind the header of its region: see "Rules for pauses" in
// linux/eventlog.h.
//
// Any process with access to the file may have written it, so its content is a hint: it is checked
// on a copy, and nothing depends on it but what is shown. The file may be truncated at any time;
// then the log reads as empty and is not written.
#pragma once

#include <cstdint>
#include <vector>

#include "platform/unique_fd.hpp"

namespace elog {

/// Outside of these times, which are in units of the region's clock, no event was dropped.
struct recorder_pause {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // 0: it goes on

    [[nodiscard]] bool goes_on() const noexcept { return end == 0; }
};

struct pause_history {
    std::uint32_t count = 0;             // of all pauses
    std::vector<recorder_pause> last{};  // at most EVENTLOG_PAUSES_MAX, in order; only valid ones

    /// The number of last[0], from 1.
    [[nodiscard]] std::uint64_t first_number() const noexcept { return count - last.size() + 1; }

    /// Whether the last one goes on. While the flight recorder is not paused, a process is pausing
    /// or resuming it, or has died over it.
    [[nodiscard]] bool goes_on() const noexcept { return !last.empty() && last.back().goes_on(); }
};

[[nodiscard]] pause_history read_pauses(const eventlog::core::unique_fd& file);

// Both in the process that owns the subscription, or, if it is detached, under the directory lock.
/// Adds a pause, unless one goes on already: that of a process that has died over it.
void begin_pause(const eventlog::core::unique_fd& file, std::uint64_t now);
/// Ends the last pause if it goes on.
void end_pause(const eventlog::core::unique_fd& file, std::uint64_t now);

}  // namespace elog
