// SPDX-License-Identifier: MIT
//
// Draws the screen of `elog top` as lines of text. The result depends on the arguments only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "terminal/frame_line.hpp"
#include "top/top_statistics.hpp"
#include "top/top_view.hpp"

namespace elog {

/// What the screen shows beside the statistics.
struct frame_notes {
    std::string listening{};            // the patterns; untrusted text
    double interval = 1;                // in seconds
    std::uint32_t refused = 0;          // providers that found no room
    bool has_uncounted_losses = false;  // more may be lost than counted
    bool shows_keys = true;
    std::string complaint{};  // shown instead of the keys
};

struct top_frame {
    std::vector<frame_line> lines{};  // at most style.rows
    visible_page page{};
};

[[nodiscard]] top_frame draw_top(const top_statistics& shown, const top_view& view,
                                 const frame_notes& notes, const frame_style& style);

// Parts of the screen:

/// The last line: the keys and their functions, cut to the width.
[[nodiscard]] frame_line draw_keys(const top_view& view, const frame_style& style);
/// The screen of the opened event, without the last line.
[[nodiscard]] top_frame draw_fields(const top_statistics& shown, const top_view& view,
                                    const frame_style& style);
/// Ends the first line with the time, and whether programs are paused or the display is frozen.
void add_state(frame_line& line, const top_statistics& shown, const top_view& view);
[[nodiscard]] paint paint_of(eventlog::level severity) noexcept;

}  // namespace elog
