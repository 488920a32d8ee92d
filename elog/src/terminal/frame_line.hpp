// SPDX-License-Identifier: MIT
//
// Builds a line of a screen that is never wider than the screen, and the numbers and bars in it.
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
    bool has_blocks = false;  // the terminal can show block characters
};

class frame_line {
  public:
    explicit frame_line(const frame_style& style) : style_(style) {}

    /// Adds untrusted text, escaped. Text that does not fit is cut and ends with an ellipsis.
    void add(std::string_view text, paint how = paint::plain) { add(text, style_.columns, how); }
    /// The same, within `width` columns.
    void add(std::string_view text, std::size_t width, paint how);
    /// The same, right-aligned in `width` columns.
    void add_right(std::string_view text, std::size_t width, paint how = paint::plain);
    /// Adds trusted text of `width` columns, such as a bar, unescaped. Nothing if it does not fit.
    void add_blocks(std::string_view blocks, std::size_t width, paint how = paint::plain);
    /// Adds blanks up to a column.
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

/// A number of about three digits with a unit of thousands: "0", "0.25", "12.5", "999", "1.2k",
/// "45.0k", "120M".
[[nodiscard]] std::string short_number(double number);

/// A chart of the last `width` values, the newest to the right, relative to the largest of them. A
/// chart of `levels` rows is made row by row; `level` 0 is the lowest.
[[nodiscard]] std::string sparkline(std::span<const double> values, std::size_t width,
                                    const frame_style& style, std::size_t levels = 1,
                                    std::size_t level = 0);

/// A bar that fills the fraction `part` of `width` columns; the rest is blank.
[[nodiscard]] std::string bar(double part, std::size_t width, const frame_style& style);

}  // namespace elog
