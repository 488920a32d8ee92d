// SPDX-License-Identifier: MIT
#include "memory/pause_log.hpp"

#include <linux/eventlog.h>

#include <algorithm>
#include <cstddef>

#include "ring/region.hpp"
#include "shm/exact_io.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

bool read_log(const core::unique_fd& file, eventlog_pause_log& log) noexcept {
    return core::read_exactly(file, &log, sizeof log, core::pause_log_offset);
}

/// The offset of the entry of a pause, in the file.
std::uint64_t entry_offset(std::uint32_t number) noexcept {
    return core::pause_log_offset + offsetof(eventlog_pause_log, pauses) +
           number % EVENTLOG_PAUSES_MAX * sizeof(eventlog_pause);
}

}  // namespace

pause_history read_pauses(const core::unique_fd& file) {
    eventlog_pause_log log{};
    if (!read_log(file, log)) {
        return {};
    }
    pause_history found{log.count, {}};
    std::uint64_t next = UINT64_MAX;  // where the pause has to end
    const std::uint32_t present = std::min<std::uint32_t>(log.count, EVENTLOG_PAUSES_MAX);
    for (std::uint32_t back = 1; back <= present; ++back) {
        const eventlog_pause& entry = log.pauses[(log.count - back) % EVENTLOG_PAUSES_MAX];
        const bool is_open = entry.end == 0 && back == 1;
        if (!is_open && (entry.end < entry.begin || entry.end > next || entry.end == 0)) {
            break;
        }
        found.last.push_back({entry.begin, entry.end});
        next = entry.begin;
    }
    std::reverse(found.last.begin(), found.last.end());
    return found;
}

void begin_pause(const core::unique_fd& file, std::uint64_t now) {
    const pause_history before = read_pauses(file);
    if (before.goes_on()) {
        return;
    }
    // The entry first: if this process is killed in between, the log is as it was.
    const eventlog_pause added{now, 0};
    const std::uint32_t count = before.count + 1;
    if (core::write_exactly(file, &added, sizeof added, entry_offset(before.count))) {
        core::write_exactly(file, &count, sizeof count,
                            core::pause_log_offset + offsetof(eventlog_pause_log, count));
    }
}

void end_pause(const core::unique_fd& file, std::uint64_t now) {
    const pause_history before = read_pauses(file);
    if (!before.goes_on()) {
        return;
    }
    // Not 0, which means that it goes on, and not before its begin, on whatever clock.
    const std::uint64_t end = std::max({now, before.last.back().begin, std::uint64_t{1}});
    core::write_exactly(file, &end, sizeof end,
                        entry_offset(before.count - 1) + offsetof(eventlog_pause, end));
}

}  // namespace elog
