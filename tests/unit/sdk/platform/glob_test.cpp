// SPDX-License-Identifier: MIT
#include "platform/glob.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace {

using eventlog::core::glob_match;
using namespace std::string_view_literals;

TEST(glob, without_wildcards_matches_only_itself) {
    EXPECT_TRUE(glob_match("tcp", "tcp"));
    EXPECT_FALSE(glob_match("tcp", "tcp4"));
    EXPECT_FALSE(glob_match("tcp", "tc"));
    EXPECT_TRUE(glob_match("", ""));
    EXPECT_FALSE(glob_match("", "a"));
}

TEST(glob, star_matches_any_run) {
    EXPECT_TRUE(glob_match("*", ""));
    EXPECT_TRUE(glob_match("*", "anything"));
    EXPECT_TRUE(glob_match("a*c", "abbbc"));
    EXPECT_TRUE(glob_match("a*c", "ac"));
    EXPECT_TRUE(glob_match("*b*b*", "abab"));
    EXPECT_FALSE(glob_match("*b*b*b*", "abab"));
    EXPECT_TRUE(glob_match("order_**", "order_"));
}

TEST(glob, star_backtracks) {
    EXPECT_TRUE(glob_match("*aab", "aaaab"));
    EXPECT_FALSE(glob_match("*aab", "aaaba"));
}

TEST(glob, question_mark_matches_one_character) {
    EXPECT_TRUE(glob_match("t?p", "tcp"));
    EXPECT_FALSE(glob_match("t?p", "tp"));
    EXPECT_FALSE(glob_match("?", ""));
}

TEST(glob, many_stars_are_not_exponential) {
    const std::string text(5000, 'a');
    std::string pattern;
    for (int i = 0; i < 500; ++i) {
        pattern += "a*";
    }
    EXPECT_FALSE(glob_match(pattern + "b", text));
}

}  // namespace
