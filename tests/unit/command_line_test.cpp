// SPDX-License-Identifier: MIT
//
// What people type: patterns and lists of CPUs (which the kernel types).
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cpus.hpp"
#include "failure.hpp"
#include "patterns.hpp"

namespace {

using elog::event_patterns;
using elog::parse_cpu_list;

TEST(event_patterns, match_provider_and_event) {
    event_patterns patterns;
    patterns.add("shop:order_*");
    patterns.add("tcp");
    EXPECT_TRUE(patterns.matches("shop", "order_placed"));
    EXPECT_FALSE(patterns.matches("shop", "payment"));
    EXPECT_TRUE(patterns.matches("tcp", "anything"));
    EXPECT_FALSE(patterns.matches(0, "tcp", "anything"));
    EXPECT_TRUE(patterns.matches(1, "tcp", "anything"));
}

TEST(event_patterns, refuse_what_can_match_nothing) {
    event_patterns patterns;
    for (const char* wrong : {"", ":", "shop:", ":event", "a-b", "a b:c", "shop:a:b", "sh\nop"}) {
        EXPECT_THROW(patterns.add(wrong), elog::failure) << wrong;
    }
    EXPECT_TRUE(patterns.empty());
}

TEST(event_patterns, refuse_more_than_a_subscription_holds) {
    event_patterns patterns;
    EXPECT_THROW(
        {
            for (int i = 0; i < 1000; ++i) {
                patterns.add("provider_" + std::to_string(i) + ":*");
            }
        },
        elog::failure);
}

TEST(event_patterns, are_packed_with_a_nul_behind_each) {
    event_patterns patterns;
    patterns.add("a:b");
    patterns.add("c");
    EXPECT_EQ(patterns.packed(), std::string("a:b\0c:*\0", 8));
}

TEST(cpu_list, is_read_as_the_kernel_writes_it) {
    EXPECT_EQ(parse_cpu_list("0"), std::vector<bool>{true});
    EXPECT_EQ(parse_cpu_list("0-1"), (std::vector<bool>{true, true}));
    EXPECT_EQ(parse_cpu_list("0,2-3"), (std::vector<bool>{true, false, true, true}));
}

TEST(cpu_list, that_makes_no_sense_ends_where_it_stops_making_sense) {
    EXPECT_TRUE(parse_cpu_list("").empty());
    EXPECT_TRUE(parse_cpu_list("none").empty());
    EXPECT_TRUE(parse_cpu_list("3-1").empty());
    EXPECT_TRUE(parse_cpu_list("0-99999999").empty());
    EXPECT_EQ(parse_cpu_list("0,x"), std::vector<bool>{true});
}

}  // namespace
