// SPDX-License-Identifier: MIT
#include "platform/error_text.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "platform/short_text.hpp"

using namespace eventlog::core;

namespace {

TEST(error_text, is_empty_at_first) {
    EXPECT_STREQ(error_text().text().c_str(), "");
}

TEST(error_text, puts_values_in_their_places) {
    error_text text;
    text.set("The file %s of %u has %zu bytes.", "a", 7U, std::size_t{0});
    EXPECT_STREQ(text.text().c_str(), "The file a of 7 has 0 bytes.");
    text.set("There is none.");
    EXPECT_STREQ(text.text().c_str(), "There is none.");
    text.set("%u", UINT64_MAX);
    EXPECT_STREQ(text.text().c_str(), "18446744073709551615");
}

TEST(error_text, describes_an_error_when_it_is_read) {
    error_text text;
    text.set("%s cannot be opened (%s).", "a", system_error{ENOENT});
    const std::string expected = std::string("a cannot be opened (") + std::strerror(ENOENT) + ").";
    EXPECT_EQ(text.text().c_str(), expected);
}

TEST(error_text, copies_its_texts) {
    char name[] = "a";
    error_text text;
    text.set("%s has %u (%s)", name, 7U, system_error{ENOENT});
    error_text::text_copies copies;
    text.copy_texts(copies);
    name[0] = 'b';
    EXPECT_EQ(text.text().c_str(), std::string("a has 7 (") + std::strerror(ENOENT) + ")");
}

TEST(error_text, does_not_interpret_a_value) {
    error_text text;
    text.set("%s and %s", "%s", "%u");
    EXPECT_STREQ(text.text().c_str(), "%s and %u");
}

TEST(error_text, truncates_a_long_sentence) {
    const std::string longest(300, 'x');
    error_text text;
    text.set("%s%u", longest.c_str(), 1U);
    EXPECT_EQ(text.text().c_str(), longest.substr(0, 255));
}

TEST(short_text, has_numbers_in_any_base) {
    short_text<32> text;
    text.put("a/").put_number(0).put('.').put_number(UINT64_MAX, 16);
    EXPECT_STREQ(text.c_str(), "a/0.ffffffffffffffff");
    EXPECT_FALSE(text.is_cut());
}

TEST(short_text, reports_what_does_not_fit) {
    short_text<4> text;
    text.put("123");
    EXPECT_FALSE(text.is_cut());
    text.put('4');
    EXPECT_TRUE(text.is_cut());
    EXPECT_STREQ(text.c_str(), "123");
}

TEST(short_text, takes_numbers_apart) {
    const char* at = "12.x";
    EXPECT_EQ(take_number(at), 12U);
    EXPECT_STREQ(at, ".x");
    EXPECT_EQ(take_number(at), 0U);
    EXPECT_STREQ(at, ".x");
}

}  // namespace
