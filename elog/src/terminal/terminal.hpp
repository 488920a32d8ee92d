// SPDX-License-Identifier: MIT
//
// What the output can show: how wide it is, and whether colours mean anything there.
#pragma once

#include <cstddef>
#include <string_view>

#include <fmt/format.h>

namespace elog {

/// Where text goes. Without a terminal: 80 columns, no colours.
struct terminal_style {
    std::size_t width = 80;
    bool has_colours = false;
};

/// Of an open descriptor, and of the environment: COLUMNS goes before the terminal's own width;
/// NO_COLOR, if it is not empty, and TERM=dumb turn colours off. Never wider or narrower than text
/// can be read in.
[[nodiscard]] terminal_style style_of(int descriptor) noexcept;

/// What can be read on a light background as on a dark one. Yellow and cyan cannot.
enum class paint {
    plain,
    strong,
    faint,
    red,  // and bold, as the next: some palettes have them dark
    magenta,
    green,     // for bars: as text it is too pale on a light background
    reversed,  // what is chosen
};

/// The text, in that paint if there are colours. It is not escaped: see append_visible.
void append_painted(fmt::memory_buffer& out, const terminal_style& style, paint how,
                    std::string_view text);

}  // namespace elog
