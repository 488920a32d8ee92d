// SPDX-License-Identifier: MIT
//
// Verdicts about ended processes are bounded, and told apart by start time.
#include "scope/known_processes.hpp"

#include <optional>

#include <gtest/gtest.h>

namespace {

TEST(known_processes, exact_time_replaces_the_reported_one) {
    elog::known_processes known;
    known.add_forked(7, 101, true);
    EXPECT_EQ(known.find(7, 100), std::optional(true));
    known.add(7, 100, true);
    EXPECT_EQ(known.find(7, 100), std::optional(true));
    EXPECT_EQ(known.find(7, 101), std::nullopt);
    known.add_forked(7, 101, false);  // late, about the same process
    EXPECT_EQ(known.find(7, 0), std::optional(true));
}

TEST(known_processes, forgets_the_oldest) {
    elog::known_processes known(2);
    known.add(1, 10, false);
    known.add(2, 20, true);
    known.add(3, 30, true);
    EXPECT_EQ(known.find(1, 10), std::nullopt);
    EXPECT_EQ(known.find(2, 20), std::optional(true));
    EXPECT_FALSE(known.has_forgotten_inside());
    known.add(2, 40, false);
    EXPECT_EQ(known.find(2, 20), std::nullopt);
    EXPECT_EQ(known.find(2, 40), std::optional(false));
    EXPECT_TRUE(known.has_forgotten_inside());
}

}  // namespace
