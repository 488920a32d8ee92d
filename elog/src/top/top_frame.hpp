// SPDX-License-Identifier: MIT
//
// The screen of elog top as lines of text. It depends on nothing but what it is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "terminal/frame_line.hpp"
#include "top/top_statistics.hpp"
#include "top/top_view.hpp"

namespace elog {

/// What is known beside the traffic.
struct frame_notes {
    std::string listening{};    // to what; may be anyone's text
    double interval = 1;        // in seconds
    std::uint32_t refused = 0;  // providers that found no room
    bool shows_keys = true;
};

struct top_frame {
    std::vector<frame_line> lines{};  // no more than there are rows
    visible_page page{};
};

[[nodiscard]] top_frame draw_top(const top_statistics& shown, const top_view& view,
                                 const frame_notes& notes, const frame_style& style);

// The parts of it.

/// The last line: what keys do, as far as there is room.
[[nodiscard]] frame_line draw_keys(const top_view& view, const frame_style& style);
/// The event that has been opened, from the first line to the one before the last.
[[nodiscard]] top_frame draw_fields(const top_statistics& shown, const top_view& view,
                                    const frame_style& style);
/// Ends the first line: whether the screen stands still, and the time.
void add_state(frame_line& line, const top_statistics& shown, const top_view& view);
[[nodiscard]] paint paint_of(eventlog::level severity) noexcept;

}  // namespace elog
