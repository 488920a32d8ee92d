// SPDX-License-Identifier: MIT
//
// The texts and messages of the kernel about processes, and a double fork that this process adopts.
#include "scope/system_processes.hpp"

#include <linux/connector.h>
#include <linux/netlink.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

constexpr const char* behind_name = "S 77 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 9 10 11";

TEST(system_processes, parses_names_with_any_character) {
    const auto found = elog::parse_process_stat("42 (a) b) (R 1 2 3) " + std::string(behind_name));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->pid, 42U);
    EXPECT_EQ(found->parent, 77U);
    EXPECT_EQ(found->start_time, 123456U);
}

TEST(system_processes, process_that_is_being_removed_has_ended) {
    const std::string living = "42 (a) Z 7 7 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 5";
    const std::string removed = "42 (a) X 0 -1 -1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 5";
    EXPECT_TRUE(elog::parse_process_stat(living));
    EXPECT_FALSE(elog::parse_process_stat(removed));
}

TEST(system_processes, rejects_other_texts) {
    for (const char* const text : {"", "42", "42 (a", "42 (a)", "42 (a) S", "x (a) S 1 2",
                                   "42 (a) S x 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 5"}) {
        EXPECT_FALSE(elog::parse_process_stat(text)) << text;
    }
}

/// A message of the connector of process events.
std::vector<std::uint8_t> message_of(std::uint32_t what, std::uint64_t time,
                                     std::array<std::uint32_t, 4> processes) {
    std::vector<std::uint8_t> bytes(NLMSG_HDRLEN + sizeof(cn_msg) + 40);
    std::uint8_t* const event = bytes.data() + NLMSG_HDRLEN + sizeof(cn_msg);
    std::memcpy(event, &what, sizeof what);
    std::memcpy(event + 8, &time, sizeof time);
    std::memcpy(event + 16, processes.data(), sizeof processes);
    return bytes;
}

TEST(fork_events, are_parsed_with_threads_as_children) {
    constexpr std::uint64_t second = 1'000'000'000;
    const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
    std::vector<elog::fork_event> forks;
    const auto parse = [&](const std::vector<std::uint8_t>& message) {
        elog::parse_process_event(message, 2 * second, 9, forks);
    };
    parse(message_of(1, second, {11, 10, 20, 20}));  // a process of the thread 11
    parse(message_of(1, second, {5, 5, 21, 20}));    // a thread
    parse(message_of(1, second, {5, 5, 22, 9}));     // a thread of this process
    parse(message_of(2, second, {20, 20, 0, 0}));    // exec
    parse({1, 2, 3});
    ASSERT_EQ(forks.size(), 2U);
    EXPECT_EQ(forks[0].parent, 10U);
    EXPECT_EQ(forks[0].child, 20U);
    EXPECT_EQ(forks[0].time, 3 * per_second);
    EXPECT_EQ(forks[1].parent, 20U);
    EXPECT_EQ(forks[1].child, 21U);
}

TEST(system_processes, adopts_and_reaps_the_orphan_of_a_double_fork) {
    elog::system_processes processes;
    const auto self = static_cast<std::uint32_t>(::getpid());
    EXPECT_EQ(processes.self(), self);
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(::fork() < 0 ? 1 : 0);  // the grandchild ends as well
    }
    ASSERT_GT(child, 0);
    const auto command = static_cast<std::uint32_t>(child);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    std::optional<elog::process_stat> orphan;
    for (int i = 0; i < 1000 && !orphan; ++i) {
        orphan = processes.reap_orphan(command);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_TRUE(orphan);
    EXPECT_EQ(orphan->parent, self);
    EXPECT_FALSE(processes.find(orphan->pid));
}

TEST(system_processes, leaves_the_command_to_its_owner) {
    elog::system_processes processes;
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(7);
    }
    ASSERT_GT(child, 0);
    siginfo_t ended{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
    EXPECT_FALSE(processes.reap_orphan(static_cast<std::uint32_t>(child)));
    const auto zombie = processes.find(static_cast<std::uint32_t>(child));
    ASSERT_TRUE(zombie);
    EXPECT_EQ(zombie->parent, processes.self());
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
