// SPDX-License-Identifier: MIT
//
// Parsing the file `stats` of a relay channel.
#include "kmod/relay_stats.hpp"

#include <gtest/gtest.h>

#include "base/user_error.hpp"

namespace {

TEST(relay_stats, has_recorded_and_lost_counts_per_cpu) {
    const elog::relay_stats stats = elog::parse_relay_stats(
        "cpu0 recorded 5 lost 1 overwritten 0 produced 2 consumed 1\n"
        "cpu2 recorded 18446744073709551615 lost 7 overwritten 3 produced 0 consumed 0\n",
        4);
    ASSERT_EQ(stats.cpus.size(), 4U);
    EXPECT_TRUE(stats.cpus[0].is_there);
    EXPECT_EQ(stats.cpus[0].recorded, 5U);
    EXPECT_EQ(stats.cpus[0].lost, 1U);
    EXPECT_FALSE(stats.cpus[1].is_there);
    EXPECT_EQ(stats.cpus[2].recorded, 18446744073709551615U);
    EXPECT_EQ(stats.cpus[2].lost, 7U);
}

TEST(relay_stats, accepts_additional_words) {
    EXPECT_EQ(elog::parse_relay_stats("cpu0 recorded 1 lost 2 more 3\n", 1).cpus[0].lost, 2U);
}

TEST(relay_stats, rejects_invalid_input) {
    for (const char* text :
         {"cpu4 recorded 1 lost 2\n", "cpu recorded 1 lost 2\n", "cpu-1 recorded 1 lost 2\n",
          "cpu99999999999 recorded 1 lost 2\n", "all recorded 1 lost 2\n", "cpu0 recorded 1\n",
          "cpu0 recorded x lost 2\n", "cpu0 lost 2 recorded 1\n", "cpu0 recorded 1 lost 2x\n",
          "cpu0 recorded 18446744073709551616 lost 0\n", "\n", "paused\n"}) {
        EXPECT_THROW(static_cast<void>(elog::parse_relay_stats(text, 4)), elog::user_error) << text;
    }
}

}  // namespace
