// SPDX-License-Identifier: MIT
//
// Determines width and colors of an output, and writes colored text.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace elog {

/// Properties of an output. The defaults are for one that is no terminal.
struct terminal_style {
    std::size_t width = 80;
    bool has_colours = false;
};

/// Whether outputs have colors.
enum class color_choice {
    automatic,  // on terminals, unless the environment disables them
    always,
    never,
};

/// Applies to all outputs from now on. Call before there are threads.
void set_color_choice(color_choice choice) noexcept;

/// Standard output becomes a pipe to a pager, which shows it in this style. Call before there are
/// threads.
void set_pager_style(const terminal_style& style) noexcept;

/// Whether the terminal's type is known and supports control sequences (TERM).
[[nodiscard]] bool has_capable_terminal() noexcept;

/// The columns of a terminal; nullopt if the descriptor is none.
[[nodiscard]] std::optional<std::size_t> terminal_width(int descriptor) noexcept;

/// The style of an open descriptor. COLUMNS in the environment replaces the terminal's width, which
/// is from 40 to 1000. This function alone decides about colors: by the choice of the user, else a
/// terminal has them unless NO_COLOR is not empty or TERM=dumb.
[[nodiscard]] terminal_style style_of(int descriptor) noexcept;

/// Styles that are readable on light and dark backgrounds. Yellow and cyan are not.
enum class paint {
    plain,
    strong,
    faint,
    red,       // bold, because some palettes have a dark one
    magenta,   // bold, for the same reason
    green,     // for bars: as text it is too pale on a light background
    reversed,  // the selection
};

/// Appends the text, styled if the output has colors. Does not escape it: see append_visible.
void append_painted(fmt::memory_buffer& out, const terminal_style& style, paint how,
                    std::string_view text);

}  // namespace elog
