// SPDX-License-Identifier: MIT
//
// The names of ended processes.
#include "tracing/process_names.hpp"

#include <string>

#include <gtest/gtest.h>

namespace {

std::string shell_lives(std::uint32_t process) {
    return process == 10 ? "sh" : "";
}

TEST(process_names, inherits_name_until_renamed) {
    elog::process_names names(shell_lives);
    names.take({{1, 42, 10, {}}});
    EXPECT_EQ(names.of(42), "sh");
    names.take({{2, 42, 0, "shop"}, {3, 43, 42, {}}});
    EXPECT_EQ(names.of(42), "shop");
    EXPECT_EQ(names.of(43), "shop");
    EXPECT_EQ(names.of(44), "");
}

TEST(process_names, orders_names_by_time_across_cpus) {
    elog::process_names names(shell_lives);
    names.take({{2, 42, 0, "shop"}, {1, 42, 10, {}}});
    EXPECT_EQ(names.of(42), "shop");
    // Later names have the same limit.
    names.take({{1, 42, 0, "older"}});
    EXPECT_EQ(names.of(42), "shop");
    names.take({{9, 42, 0, "next"}});
    EXPECT_EQ(names.of(42), "next");
}

TEST(process_names, resolves_reused_pid_to_latest_process) {
    elog::process_names names(shell_lives);
    names.take({{1, 42, 0, "shop"}, {5, 42, 10, {}}});
    EXPECT_EQ(names.of(42), "sh");
}

TEST(process_names, is_bounded) {
    elog::process_names names(shell_lives);
    for (std::uint32_t process = 1; process < 70'000; ++process) {
        names.take({{process, process, 0, "one"}});
    }
    EXPECT_EQ(names.of(1), "");
    EXPECT_EQ(names.of(69'999), "one");
}

}  // namespace
