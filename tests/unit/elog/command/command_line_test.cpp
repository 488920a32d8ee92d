// SPDX-License-Identifier: MIT
//
// Command-line input: event patterns, and CPU lists in the kernel's format.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/cpus.hpp"
#include "base/user_error.hpp"
#include "schema/patterns.hpp"

namespace {

using elog::event_patterns;
using elog::parse_cpu_list;

elog::provider_schema named_provider(const char* name) {
    elog::provider_schema provider;
    provider.name = name;
    return provider;
}

elog::event_schema named_event(const char* name) {
    elog::event_schema event;
    event.name = name;
    return event;
}

TEST(event_patterns, match_provider_and_event) {
    event_patterns patterns;
    patterns.add("shop:order_*");
    patterns.add("tcp");
    const elog::provider_schema shop = named_provider("shop");
    const elog::provider_schema tcp = named_provider("tcp");
    EXPECT_TRUE(patterns.matches(shop, named_event("order_placed")));
    EXPECT_FALSE(patterns.matches(shop, named_event("payment")));
    EXPECT_TRUE(patterns.matches(tcp, named_event("anything")));
    EXPECT_FALSE(patterns.matches(0, tcp, named_event("anything")));
    EXPECT_TRUE(patterns.matches(1, tcp, named_event("anything")));
}

TEST(event_patterns, accept_conditions_after_names) {
    event_patterns patterns;
    patterns.add("tcp@warn");
    patterns.add("tcp:loss/receive,send");
    patterns.add("tcp:*@trace/re*#");
    EXPECT_EQ(patterns.packed(),
              std::string("tcp:*@warn\0tcp:loss/receive,send\0tcp:*@trace/re*#\0",
                          10 + 1 + 21 + 1 + 16 + 1));
}

TEST(event_patterns, accept_debug_for_verbose) {
    event_patterns patterns;
    for (const char* text : {"tcp@debug", "tcp:loss@debug/send", "tcp@debug#"}) {
        patterns.add(text);
    }
    EXPECT_EQ(patterns[0], "tcp:*@verbose");
    EXPECT_EQ(patterns[1], "tcp:loss@verbose/send");
    EXPECT_EQ(patterns[2], "tcp:*@verbose#");
    for (const char* wrong : {"tcp@debugger", "tcp@debug@debug", "tcp@debug:loss", "tcp@Debug"}) {
        EXPECT_THROW(patterns.add(wrong), elog::user_error) << wrong;
    }
    patterns.add("tcp/debug");
    EXPECT_EQ(patterns[3], "tcp:*/debug");
}

TEST(event_patterns, apply_session_selector_to_all_unless_bound) {
    event_patterns patterns;
    patterns.add("tcp");
    patterns.add_session(7);
    EXPECT_EQ(patterns.packed(), std::string("tcp:*#\0", 7));
    patterns.add("udp#");
    EXPECT_EQ(patterns.packed(), std::string("tcp:*\0udp:*#\0", 13));
}

TEST(event_patterns, reject_unmatchable_patterns) {
    event_patterns patterns;
    for (const char* wrong : {"", ":", "shop:", ":event", "a-b", "a b:c", "shop:a:b", "sh\nop",
                              "shop@", "shop@loud", "shop/", "shop/a-b", "shop#7", "shop/a@warn"}) {
        EXPECT_THROW(patterns.add(wrong), elog::user_error) << wrong;
    }
    EXPECT_TRUE(patterns.empty());
}

TEST(event_patterns, reject_more_than_subscription_capacity) {
    event_patterns patterns;
    EXPECT_THROW(
        {
            for (int i = 0; i < 1000; ++i) {
                patterns.add("provider_" + std::to_string(i) + ":*");
            }
        },
        elog::user_error);
}

TEST(event_patterns, are_packed_nul_terminated) {
    event_patterns patterns;
    patterns.add("a:b");
    patterns.add("c");
    EXPECT_EQ(patterns.packed(), std::string("a:b\0c:*\0", 8));
}

TEST(cpu_list, parses_kernel_format) {
    EXPECT_EQ(parse_cpu_list("0"), std::vector<bool>{true});
    EXPECT_EQ(parse_cpu_list("0-1"), (std::vector<bool>{true, true}));
    EXPECT_EQ(parse_cpu_list("0,2-3"), (std::vector<bool>{true, false, true, true}));
}

TEST(cpu_list, invalid_ends_at_first_error) {
    EXPECT_TRUE(parse_cpu_list("").empty());
    EXPECT_TRUE(parse_cpu_list("none").empty());
    EXPECT_TRUE(parse_cpu_list("3-1").empty());
    EXPECT_TRUE(parse_cpu_list("0-99999999").empty());
    EXPECT_EQ(parse_cpu_list("0,x"), std::vector<bool>{true});
}

}  // namespace
