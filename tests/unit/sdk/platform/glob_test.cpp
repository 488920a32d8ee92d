// SPDX-License-Identifier: MIT
#include "platform/glob.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "independent_pattern.hpp"
#include "random_source.hpp"

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
    EXPECT_TRUE(glob_match("?", "a"));
    EXPECT_TRUE(glob_match("?", "\xc3\xa4"));  // a with diaeresis
    EXPECT_TRUE(glob_match("M?nchen", "M\xc3\xbcnchen"));
    EXPECT_TRUE(glob_match("??", "\xf0\x9f\x98\x80\xe2\x82\xac"));
    EXPECT_TRUE(glob_match("*?x", "\xe2\x82\xacx"));
    EXPECT_FALSE(glob_match("??", "\xc3\xa4"));
    EXPECT_FALSE(glob_match("?", ""));
    // A byte that is no character counts as one.
    EXPECT_TRUE(glob_match("??", "\xc3("));
    EXPECT_TRUE(glob_match("a?", "a\xff"));
}

TEST(glob, backslash_makes_the_next_character_ordinary) {
    EXPECT_TRUE(glob_match(R"(a\*b)", "a*b"));
    EXPECT_FALSE(glob_match(R"(a\*b)", "axb"));
    EXPECT_TRUE(glob_match(R"(\?)", "?"));
    EXPECT_FALSE(glob_match(R"(\?)", "x"));
    EXPECT_TRUE(glob_match(R"(C:\\*)", R"(C:\dir)"));
    EXPECT_FALSE(glob_match(R"(C:\\*)", "C:*"));
    EXPECT_TRUE(glob_match("a\\", "a\\"));  // at the end it is ordinary
}

TEST(glob, agrees_with_independent_matcher) {
    eventlog::test::random_source random(20261129);
    const std::vector<std::string_view> parts{"a",   "b",    "*",        "?",   "\\*",
                                              "\\?", "\\\\", "\xc3\xa4", "\xff"};
    const std::vector<std::string_view> pieces{"a", "b", "*", "?", "\\", "\xc3\xa4", "\xff"};
    int matched = 0;
    constexpr int trials = 20000;
    for (int i = 0; i < trials; ++i) {
        std::string pattern;
        std::string text;
        for (std::size_t count = random.below(6); count != 0; --count) {
            pattern += random.pick(parts);
        }
        for (std::size_t count = random.below(6); count != 0; --count) {
            text += random.pick(pieces);
        }
        const bool expected = eventlog::test::matches_independently(pattern, text);
        matched += expected ? 1 : 0;
        ASSERT_EQ(glob_match(pattern, text), expected) << pattern << "\n" << text;
    }
    EXPECT_GT(matched, trials / 20);
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
