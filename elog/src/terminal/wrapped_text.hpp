// SPDX-License-Identifier: MIT
//
// Lines that end where the terminal does, and go on, indented, in the next one.
#pragma once

#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "terminal/terminal.hpp"

namespace elog {

/// Columns that a text takes, which holds characters of UTF-8 that can be seen and no others.
[[nodiscard]] std::size_t columns_of(std::string_view text) noexcept;

/// One logical line. Nothing is ever left out: a piece that is wider than the terminal stands
/// alone.
class wrapped_line {
  public:
    /// Begins the line with `indent` blanks, and with `hanging` where it goes on.
    wrapped_line(fmt::memory_buffer& out, const terminal_style& style, std::size_t indent,
                 std::size_t hanging);
    /// Ends it.
    ~wrapped_line();
    wrapped_line(const wrapped_line&) = delete;
    wrapped_line& operator=(const wrapped_line&) = delete;

    /// Adds a piece that is not broken, behind a blank. The text may be anyone's: what a terminal
    /// would obey is escaped.
    void add(std::string_view piece, paint how = paint::plain);
    /// Adds a text that may be broken at its blanks.
    void add_words(std::string_view text, paint how = paint::plain);
    /// Goes to a column, at least one blank on.
    void fill_to(std::size_t column);

  private:
    void add_blanks(std::size_t count);

    fmt::memory_buffer& out_;
    terminal_style style_;
    std::size_t hanging_;
    std::size_t column_ = 0;
    std::size_t filled_to_ = 0;  // a piece may begin here without a blank
};

}  // namespace elog
