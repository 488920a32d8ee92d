// SPDX-License-Identifier: MIT
//
// The sampling rate behind a pattern of events.
#include "schema/sampling.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/user_error.hpp"

namespace {

std::string rejection_of(const std::string& text) {
    try {
        static_cast<void>(elog::parse_sampled_pattern(text));
    } catch (const elog::user_error& error) {
        return error.what();
    }
    return "none";
}

TEST(sampled_pattern, keeps_all_events_without_rate) {
    const elog::sampled_pattern found = elog::parse_sampled_pattern("shop:*@warn/orders#");
    EXPECT_EQ(found.pattern, "shop:*@warn/orders#");
    EXPECT_EQ(found.every, 1U);
}

TEST(sampled_pattern, has_rate_behind_blanks) {
    for (const char* text : {"shop:*/a 1/100", " shop:*/a \t 1/100 "}) {
        const elog::sampled_pattern found = elog::parse_sampled_pattern(text);
        EXPECT_EQ(found.pattern, "shop:*/a") << text;
        EXPECT_EQ(found.every, 100U) << text;
    }
}

TEST(sampled_pattern, accepts_rates_up_to_largest) {
    EXPECT_EQ(elog::parse_sampled_pattern("shop 1/1").every, 1U);
    EXPECT_EQ(elog::parse_sampled_pattern("shop 1/1000000000").every, 1'000'000'000U);
}

TEST(sampled_pattern, rejects_other_rates) {
    for (const char* rate :
         {"1/0", "2/3", "1/x", "1/", "/", "1", "100", "1/1000000001", "1/-5", "1/+5", "1/5x",
          "1/99999999999999999999999", "1 / 5", "1/5 1/6", "0/1", "a:b"}) {
        const std::string message = rejection_of(std::string("shop:* ") + rate);
        EXPECT_EQ(message.find("'" + std::string(rate) +
                               "' behind the pattern 'shop:*' is not a "
                               "sampling rate: write 1/N"),
                  0U)
            << message;
    }
}

TEST(sampled_pattern, leaves_names_unchecked) {
    EXPECT_EQ(elog::parse_sampled_pattern("").pattern, "");
    EXPECT_EQ(elog::parse_sampled_pattern("  ").pattern, "");
    EXPECT_EQ(elog::parse_sampled_pattern("a-b 1/2").pattern, "a-b");
}

}  // namespace
