// SPDX-License-Identifier: MIT
//
// Clocks and start times are those of the machine in each time namespace.
#include "platform/time_namespace.hpp"

#include <fcntl.h>
#include <linux/eventlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "platform/process.hpp"
#include "ring/clock.hpp"
#include "run_in_child.hpp"

namespace {

using namespace eventlog::core;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t tick = 10'000'000;

TEST(time_namespace, offsets_are_parsed) {
    time_offsets found;
    ASSERT_TRUE(parse_time_offsets(
        "monotonic       1000         5\nboottime          -2 500000000\n", found));
    EXPECT_EQ(found.monotonic, 1000 * second + 5);
    EXPECT_EQ(found.boottime, -2 * second + second / 2);
}

TEST(time_namespace, other_texts_are_rejected) {
    for (const char* text : {
             "",
             "monotonic 1 0\n",
             "monotonic 1 0\nboottime 1\n",
             "monotonic 1 0\nboottime x 0\n",
             "monotonic 1 0\nboottime - 0\n",
             "monotonic 1 0\nboottime 1 -1\n",
             "monotonic 1 1000000000\nboottime 1 0\n",
             "monotonic 9223372037 0\nboottime 1 0\n",
             "monotonic 99999999999999999999 0\nboottime 1 0\n",
         }) {
        time_offsets found;
        EXPECT_FALSE(parse_time_offsets(text, found)) << text;
    }
}

TEST(time_namespace, start_time_is_that_of_the_machine) {
    EXPECT_EQ(machine_start_time(7100, 0, tick), 7100U);
    EXPECT_EQ(machine_start_time(107100, 1000 * second, tick), 7100U);
    EXPECT_EQ(machine_start_time(100, -70 * second, tick), 7100U);
    // The namespace shows (71.004 s + 0.007 s) / 10 ms.
    EXPECT_EQ(machine_start_time(7101, 7'000'000, tick), 7100U);
}

TEST(time_namespace, invalid_start_time_does_not_overflow) {
    EXPECT_EQ(machine_start_time(UINT64_MAX, second, tick), UINT64_MAX);
    EXPECT_EQ(machine_start_time(INT64_MAX, second, tick), static_cast<std::uint64_t>(INT64_MAX));
    EXPECT_EQ(machine_start_time(0, INT64_MIN, tick), 0U);
    EXPECT_EQ(machine_start_time(1, 1000 * second, tick), 1U);
}

enum exit_code {
    right,
    wrong_clock,
    wrong_sample,
    wrong_coarse_clock,
    wrong_start,
    no_namespace = 77
};

/// Whether a clock has the value that it had before, a few seconds later.
bool is_soon_after(std::uint64_t before, std::uint64_t now) {
    return before <= now && now - before < 60ULL * second;
}

exit_code compare(const process_identity& parent, std::uint64_t before) {
    read_time_offsets();
    if (own_time_offsets().monotonic == 0) {
        return no_namespace;
    }
    if (!is_soon_after(before, read_clock(EVENTLOG_CLOCK_MONOTONIC))) {
        return wrong_clock;
    }
    if (!is_soon_after(before, read_clock_sample(EVENTLOG_CLOCK_MONOTONIC).monotonic)) {
        return wrong_sample;
    }
    // It may be late by its resolution.
    if (!is_soon_after(before - 20'000'000, coarse_monotonic_now())) {
        return wrong_coarse_clock;
    }
    const bool is_parent_alive = is_alive(parent.pid, parent.start_time, parent.pid_namespace) &&
                                 !is_alive(parent.pid, parent.start_time + 2, parent.pid_namespace);
    return is_parent_alive && current_process().start_time - parent.start_time < 6000 ? right
                                                                                      : wrong_start;
}

exit_code compare_in_namespace(const char* offsets) {
    const process_identity self = current_process();
    const std::uint64_t before = read_clock(EVENTLOG_CLOCK_MONOTONIC);
    if (!eventlog::test::make_time_namespace(offsets)) {
        return no_namespace;
    }
    // The file now has the offsets of its children.
    read_time_offsets();
    if (!is_soon_after(before, read_clock(EVENTLOG_CLOCK_MONOTONIC))) {
        return wrong_clock;
    }
    const pid_t inside = ::fork();
    if (inside == 0) {
        ::_exit(compare(self, before));
    }
    int status = 0;
    return ::waitpid(inside, &status, 0) == inside && WIFEXITED(status)
               ? static_cast<exit_code>(WEXITSTATUS(status))
               : wrong_clock;
}

TEST(time_namespace, clocks_and_start_times_are_those_of_the_machine) {
    for (const char* offsets : {"monotonic 100000 5\nboottime 200000 0\n",
                                "monotonic 86400 0\nboottime 3600 7000000\n"}) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            ::_exit(compare_in_namespace(offsets));
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFEXITED(status));
        if (WEXITSTATUS(status) == no_namespace) {
            GTEST_SKIP() << "no time namespace can be created here";
        }
        EXPECT_EQ(WEXITSTATUS(status), right) << offsets;
    }
}

}  // namespace
