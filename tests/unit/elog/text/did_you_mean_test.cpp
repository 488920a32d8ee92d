// SPDX-License-Identifier: MIT
#include "text/did_you_mean.hpp"

#include <string>

#include <gtest/gtest.h>

namespace {

using elog::did_you_mean;

TEST(did_you_mean, suggests_the_most_similar_name) {
    EXPECT_EQ(did_you_mean("itmes", {"customer", "items", "item"}), " Did you mean 'items'?");
    EXPECT_EQ(did_you_mean("Items", {"items"}), " Did you mean 'items'?");
    EXPECT_EQ(did_you_mean("weather", {"customer", "items"}), "");
    EXPECT_EQ(did_you_mean("items", {}), "");
}

TEST(did_you_mean, never_suggests_the_rejected_name) {
    EXPECT_EQ(did_you_mean("failed", {"failed"}), "");
    EXPECT_EQ(did_you_mean("failed", {"failed", "failure", "fails"}), " Did you mean 'fails'?");
}

TEST(did_you_mean, has_a_limit_of_length) {
    const std::string name(129, 'a');
    EXPECT_EQ(did_you_mean(name, {name + "a"}), "");
    EXPECT_EQ(did_you_mean(name.substr(2), {name.substr(1)}),
              " Did you mean '" + name.substr(1) + "'?");
}

}  // namespace
