// SPDX-License-Identifier: MIT
#include "recorder/recording_progress.hpp"

#include <fmt/core.h>

#include "terminal/frame_line.hpp"

namespace elog {

std::string recording_progress::text(const recording_summary& current_summary,
                                     bool is_paused) const {
    const char* state = is_paused ? "  paused" : "";
    const double seconds = current_summary.elapsed.value_or(std::chrono::seconds(0)).count();
    if (overwrites_) {  // reading starts at the end
        return fmt::format("elog: {:.0f} s  the newest events are kept in memory{}", seconds,
                           state);
    }
    const auto events = static_cast<double>(current_summary.events);
    return fmt::format("elog: {:.0f} s  {} events  {}B  {} lost  {} events/s{}", seconds,
                       short_number(events),
                       short_number(static_cast<double>(current_summary.bytes)),
                       short_number(static_cast<double>(current_summary.lost)),
                       short_number(events / seconds), state);
}

}  // namespace elog
