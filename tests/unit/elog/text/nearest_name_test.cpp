// SPDX-License-Identifier: MIT
#include "text/nearest_name.hpp"

#include <string>

#include <gtest/gtest.h>

namespace {

using elog::match_distance;

/// The suggestion for a pattern among the events of the providers shop and tcp.
std::string nearest_to(const char* pattern) {
    elog::nearest_name nearest(pattern);
    nearest.add_candidate("shop", "order_placed");
    nearest.add_candidate("shop", "order_done");
    nearest.add_candidate("tcp", "loss");
    return nearest.found().value_or("nothing");
}

TEST(match_distance, counts_edits) {
    EXPECT_EQ(match_distance("shop", "shop"), 0U);
    EXPECT_EQ(match_distance("shp", "shop"), 1U);
    EXPECT_EQ(match_distance("shoop", "shop"), 1U);
    EXPECT_EQ(match_distance("shap", "shop"), 1U);
    EXPECT_EQ(match_distance("", "shop"), 4U);
    EXPECT_EQ(match_distance("shop", ""), 4U);
}

TEST(match_distance, supports_wildcards) {
    EXPECT_EQ(match_distance("*", "shop"), 0U);
    EXPECT_EQ(match_distance("*", ""), 0U);
    EXPECT_EQ(match_distance("s??p", "shop"), 0U);
    EXPECT_EQ(match_distance("?", ""), 1U);
    EXPECT_EQ(match_distance("ordr_*", "order_placed"), 1U);
    EXPECT_EQ(match_distance("*_plced", "order_placed"), 1U);
    EXPECT_EQ(match_distance("o*d*x", "order_placed"), 1U);
}

TEST(nearest_name, suggests_provider_or_event) {
    EXPECT_EQ(nearest_to("shp"), "shop");
    EXPECT_EQ(nearest_to("shop:order_plced"), "shop:order_placed");
    EXPECT_EQ(nearest_to("shp:*_done"), "shop:order_done");
    EXPECT_EQ(nearest_to("tpc:los?"), "tcp:loss");
}

TEST(nearest_name, suggests_provider_for_bare_event_name) {
    EXPECT_EQ(nearest_to("order_done"), "shop:order_done");
}

TEST(nearest_name, is_empty_for_unrelated_name) {
    EXPECT_EQ(nearest_to("kitchen"), "nothing");
    EXPECT_EQ(nearest_to("shop:temperature"), "nothing");
}

TEST(nearest_name, prefers_first_of_equal_distance) {
    EXPECT_EQ(nearest_to("shp:*"), "shop:order_placed");
}

TEST(nearest_name, reports_mismatch_of_conditions_only) {
    elog::nearest_name nearest("shop:order_*@warn/money#");
    EXPECT_FALSE(nearest.is_match());
    nearest.add_candidate("shop", "payment");
    EXPECT_FALSE(nearest.is_match());
    nearest.add_candidate("shop", "order_done");
    EXPECT_TRUE(nearest.is_match());
}

}  // namespace
