// SPDX-License-Identifier: MIT
//
// Patterns for texts of events, by examples and against an independent matcher.
#include "text/text_pattern.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "independent_pattern.hpp"
#include "random_source.hpp"

namespace {

using elog::matches_pattern;

TEST(text_pattern, star_matches_any_run_of_characters) {
    EXPECT_TRUE(matches_pattern("*", ""));
    EXPECT_TRUE(matches_pattern("a*c", "abbbc"));
    EXPECT_TRUE(matches_pattern("a*c", "ac"));
    EXPECT_TRUE(matches_pattern("*aab", "aaaab"));
    EXPECT_TRUE(matches_pattern("**", "x"));
    EXPECT_FALSE(matches_pattern("a*c", "acb"));
    EXPECT_FALSE(matches_pattern("*b*b*b*", "abab"));
    EXPECT_FALSE(matches_pattern("", "a"));
}

TEST(text_pattern, question_mark_matches_one_character) {
    EXPECT_TRUE(matches_pattern("?", "a"));
    EXPECT_TRUE(matches_pattern("?", "\xc3\xa4"));  // a with diaeresis
    EXPECT_TRUE(matches_pattern("M?nchen", "M\xc3\xbcnchen"));
    EXPECT_TRUE(matches_pattern("??", "\xf0\x9f\x98\x80\xe2\x82\xac"));
    EXPECT_TRUE(matches_pattern("*?x", "\xe2\x82\xacx"));
    EXPECT_FALSE(matches_pattern("??", "\xc3\xa4"));
    EXPECT_FALSE(matches_pattern("?", ""));
    // A byte that is no character counts as one.
    EXPECT_TRUE(matches_pattern("??", "\xc3("));
    EXPECT_TRUE(matches_pattern("a?", "a\xff"));
}

TEST(text_pattern, backslash_makes_the_next_character_ordinary) {
    EXPECT_TRUE(matches_pattern(R"(a\*b)", "a*b"));
    EXPECT_FALSE(matches_pattern(R"(a\*b)", "axb"));
    EXPECT_TRUE(matches_pattern(R"(\?)", "?"));
    EXPECT_FALSE(matches_pattern(R"(\?)", "x"));
    EXPECT_TRUE(matches_pattern(R"(C:\\*)", R"(C:\dir)"));
    EXPECT_FALSE(matches_pattern(R"(C:\\*)", "C:*"));
    EXPECT_TRUE(matches_pattern("a\\", "a\\"));  // at the end it is ordinary
}

TEST(text_pattern, agrees_with_independent_matcher) {
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
        ASSERT_EQ(matches_pattern(pattern, text), expected) << pattern << "\n" << text;
    }
    EXPECT_GT(matched, trials / 20);
}

}  // namespace
