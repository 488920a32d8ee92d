// SPDX-License-Identifier: MIT
//
// Breaks lines at the terminal's width and indents their continuation.
#pragma once

#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "terminal/terminal.hpp"

namespace elog {

/// The number of columns of a text, which must consist of visible UTF-8 characters.
[[nodiscard]] std::size_t columns_of(std::string_view text) noexcept;

/// One logical line. Nothing is cut: a piece that is wider than the terminal gets its own line.
class wrapped_line {
  public:
    /// Begins the line with `indent` blanks, and its continuations with `hanging`.
    wrapped_line(fmt::memory_buffer& out, const terminal_style& style, std::size_t indent,
                 std::size_t hanging);
    /// Ends the line.
    ~wrapped_line();
    wrapped_line(const wrapped_line&) = delete;
    wrapped_line& operator=(const wrapped_line&) = delete;

    /// Adds a blank and a piece that is not broken. The piece is untrusted and is escaped.
    void add(std::string_view piece, paint how = paint::plain);
    /// Adds a text that may be broken at its blanks.
    void add_words(std::string_view text, paint how = paint::plain);
    /// Adds blanks up to a column, at least one.
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
