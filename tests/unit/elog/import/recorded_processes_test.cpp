// SPDX-License-Identifier: MIT
//
// The processes that a recording names.
#include "import/recorded_processes.hpp"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace {

TEST(recorded_processes, truncates_names_to_kernel_length) {
    elog::recorded_processes processes;
    processes.rename(7, 7, std::string(65'000, 'x'));
    EXPECT_EQ(processes.of(7).name, std::string(15, 'x'));
    processes.become(7, "sixteen_letters_", 5);
    EXPECT_EQ(processes.of(7).name, "sixteen_letters");
    EXPECT_EQ(processes.of(7).start_time, 5U);
}

TEST(recorded_processes, evicts_above_pid_limit) {
    constexpr std::uint32_t limit = elog::recorded_processes::known_max;
    elog::recorded_processes processes;
    processes.rename(1, 1, "shop");
    for (std::uint32_t pid = 2; pid <= limit; ++pid) {
        processes.fork(1, pid, pid);
    }
    EXPECT_TRUE(processes.knows(1));
    EXPECT_EQ(processes.of(limit).name, "shop");
    processes.fork(limit, limit + 1, 9);
    EXPECT_EQ(processes.of(limit + 1).name, "shop");
    EXPECT_EQ(processes.of(limit + 1).pid, limit + 1);
    EXPECT_FALSE(processes.knows(1));
    EXPECT_EQ(processes.of(1).name, "?");
}

}  // namespace
