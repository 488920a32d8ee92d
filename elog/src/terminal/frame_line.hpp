// SPDX-License-Identifier: MIT
//
// A line of a screen: never wider than the screen, whatever is put into it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "terminal/terminal.hpp"

namespace elog {

struct frame_style {
    std::size_t columns = 80;
    std::size_t rows = 24;
    bool has_colours = false;
    bool has_blocks = false;  // bars of blocks, which not every terminal can show
};

class frame_line {
  public:
    explicit frame_line(const frame_style& style) : style_(style) {}

    /// The text may be anyone's: what a terminal would obey is escaped. What finds no room is left
    /// out, and the last character that is shown then says so.
    void add(std::string_view text, paint how = paint::plain) { add(text, style_.columns, how); }
    /// The same, of no more than `width` columns.
    void add(std::string_view text, std::size_t width, paint how);
    /// With blanks in front, so that it takes `width` columns.
    void add_right(std::string_view text, std::size_t width, paint how = paint::plain);
    /// A bar or a row of them, of our own, which takes `width` columns.
    void add_blocks(std::string_view blocks, std::size_t width, paint how = paint::plain);
    /// Blanks up to a column.
    void fill_to(std::size_t column);
    void skip(std::size_t columns) { fill_to(columns_ + columns); }

    [[nodiscard]] std::size_t columns() const noexcept { return columns_; }
    [[nodiscard]] std::size_t left() const noexcept { return style_.columns - columns_; }
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

  private:
    void paint_text(std::string_view text, paint how);

    frame_style style_;
    std::string text_;
    std::size_t columns_ = 0;
};

/// Three digits or so, and a unit of thousands: "0", "0.25", "12.5", "999", "1.2k", "45.0k",
/// "120M".
[[nodiscard]] std::string short_number(double number);

/// The last `width` values, the newest to the right, as high as they are in comparison with the
/// largest of all that are shown. Of several `levels` of rows, `level` is counted from below.
[[nodiscard]] std::string sparkline(std::span<const double> values, std::size_t width,
                                    const frame_style& style, std::size_t levels = 1,
                                    std::size_t level = 0);

/// As long as `part` is of 1, of `width` columns; the rest is blank.
[[nodiscard]] std::string bar(double part, std::size_t width, const frame_style& style);

}  // namespace elog
