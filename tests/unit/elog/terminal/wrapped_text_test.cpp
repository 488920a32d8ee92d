// SPDX-License-Identifier: MIT
#include "terminal/wrapped_text.hpp"

#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "terminal/terminal.hpp"

namespace {

using elog::columns_of;
using elog::paint;
using elog::wrapped_line;

std::string line(std::size_t width, const std::function<void(wrapped_line&)>& fill,
                 bool has_colours = false) {
    fmt::memory_buffer out;
    {
        wrapped_line made(out, {width, has_colours}, 2, 4);
        fill(made);
    }
    return fmt::to_string(out);
}

TEST(columns, match_terminal_width) {
    EXPECT_EQ(columns_of(""), 0U);
    EXPECT_EQ(columns_of("abc"), 3U);
    EXPECT_EQ(columns_of("chloë €uro"), 10U);
    EXPECT_EQ(columns_of("e\xcc\x81"), 1U);  // combining accent
    EXPECT_EQ(columns_of("日本"), 4U);
    EXPECT_EQ(columns_of("😀"), 2U);
}

TEST(wrapped_line, ends_at_terminal_width) {
    const auto words = [](wrapped_line& made) { made.add_words("one two  three four"); };
    EXPECT_EQ(line(80, words), "  one two three four\n");
    EXPECT_EQ(line(15, words), "  one two three\n    four\n");
    EXPECT_EQ(line(14, words), "  one two\n    three four\n");
}

TEST(wrapped_line, never_splits_a_piece) {
    const auto pieces = [](wrapped_line& made) {
        made.add("a: u32 format hexadecimal,");
        made.add("b: u8");
    };
    EXPECT_EQ(line(12, pieces), "  a: u32 format hexadecimal,\n    b: u8\n");
}

TEST(wrapped_line, has_columns) {
    const auto columns = [](wrapped_line& made) {
        made.add("a");
        made.fill_to(8);
        made.add("b");
        made.fill_to(3);
        made.add("c");
    };
    EXPECT_EQ(line(80, columns), "  a     b c\n");
}

TEST(wrapped_line, escapes_terminal_control_characters) {
    EXPECT_EQ(line(80, [](wrapped_line& made) { made.add_words("a\x1b[31m b\xff"); }),
              "  a\\x1b[31m b\\xff\n");
}

TEST(wrapped_line, does_not_count_colours) {
    const auto words = [](wrapped_line& made) { made.add_words("one two three", paint::green); };
    EXPECT_EQ(line(9, words, true),
              "  \x1b[32mone\x1b[0m \x1b[32mtwo\x1b[0m\n    \x1b[32mthree\x1b[0m\n");
}

TEST(terminal_style, without_terminal_is_80_columns_without_colours) {
    ::unsetenv("COLUMNS");
    int ends[2] = {};
    ASSERT_EQ(::pipe(ends), 0);
    const elog::terminal_style style = elog::style_of(ends[1]);
    ::close(ends[0]);
    ::close(ends[1]);
    EXPECT_EQ(style.width, 80U);
    EXPECT_FALSE(style.has_colours);
}

TEST(terminal_style, has_colors_by_choice_of_user) {
    ::setenv("NO_COLOR", "1", 1);
    elog::set_color_choice(elog::color_choice::always);
    EXPECT_TRUE(elog::style_of(-1).has_colours);
    elog::set_color_choice(elog::color_choice::never);
    EXPECT_FALSE(elog::style_of(-1).has_colours);
    elog::set_color_choice(elog::color_choice::automatic);
    EXPECT_FALSE(elog::style_of(-1).has_colours);
    ::unsetenv("NO_COLOR");
}

TEST(terminal_style, uses_numeric_columns_variable) {
    const auto width_with = [](const char* columns) {
        ::setenv("COLUMNS", columns, 1);
        const std::size_t width = elog::style_of(-1).width;
        ::unsetenv("COLUMNS");
        return width;
    };
    EXPECT_EQ(width_with("120"), 120U);
    EXPECT_EQ(width_with("1"), 40U);
    EXPECT_EQ(width_with("999999999"), 1000U);
    for (const char* nonsense : {"", "0", "-5", "12x", " 12", "99999999999999999999999"}) {
        EXPECT_EQ(width_with(nonsense), 80U) << nonsense;
    }
}

}  // namespace
