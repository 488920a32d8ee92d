// SPDX-License-Identifier: MIT
//
// Which processes belong to a command, with the races of /proc: processes that end before they are
// looked at, parents that end during the look, and pids that are reused.
#include "scope/command_scope.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "fake_processes.hpp"

namespace {

using elog::scope_verdict;
using eventlog::test::fake_processes;

constexpr std::uint32_t command = 300;
constexpr std::uint32_t daemon_pid = 150;

class command_scope_rule : public ::testing::Test {
  protected:
    command_scope_rule()
        : owned_machine(std::make_unique<fake_processes>()), machine(*owned_machine) {
        machine.now = 900;
        machine.fork(fake_processes::init, daemon_pid);
        machine.now = 2000;
    }

    /// Starts the command at tick 2000, and continues 10 ticks later.
    void start(bool with_fork_events) {
        machine.reports_forks = with_fork_events;
        scope.emplace(std::move(owned_machine));
        machine.fork(fake_processes::elog_pid, command);
        scope->begin(command);
        machine.now += 10;
    }

    scope_verdict decide(std::uint32_t pid) { return scope->decide(pid, machine.start_time(pid)); }

    std::unique_ptr<fake_processes> owned_machine;
    fake_processes& machine;
    std::optional<elog::command_scope> scope;
};

TEST_F(command_scope_rule, command_and_living_descendants_are_inside) {
    start(false);
    machine.fork(command, 301);
    machine.fork(301, 302);
    EXPECT_EQ(decide(command), scope_verdict::inside);
    EXPECT_EQ(decide(302), scope_verdict::inside);
    EXPECT_EQ(decide(301), scope_verdict::inside);
}

TEST_F(command_scope_rule, other_processes_are_outside) {
    start(false);
    machine.fork(fake_processes::shell, 400);
    machine.fork(daemon_pid, 401);
    EXPECT_EQ(decide(400), scope_verdict::outside);
    EXPECT_EQ(decide(401), scope_verdict::outside);
    EXPECT_EQ(decide(daemon_pid), scope_verdict::outside);
    EXPECT_EQ(decide(fake_processes::elog_pid), scope_verdict::outside);
}

TEST_F(command_scope_rule, double_fork_is_inside_after_its_parents_ended) {
    start(false);
    machine.fork(command, 301);
    machine.fork(301, 302);
    machine.exit_and_reap(301);
    EXPECT_EQ(decide(302), scope_verdict::inside);
}

TEST_F(command_scope_rule, process_that_started_before_is_outside_after_its_end) {
    start(false);
    const std::uint64_t started = machine.start_time(daemon_pid);
    machine.exit_and_reap(daemon_pid);
    EXPECT_EQ(scope->decide(daemon_pid, started), scope_verdict::outside);
    // Also one that started in the same tick as the command.
    EXPECT_EQ(scope->decide(999, 1999), scope_verdict::outside);
}

TEST_F(command_scope_rule, process_of_the_commands_tick_is_outside_if_it_ran_before) {
    machine.fork(daemon_pid, 160);
    start(false);
    machine.exit_and_reap(160);
    EXPECT_EQ(scope->decide(160, 2000), scope_verdict::outside);
}

TEST_F(command_scope_rule, adopted_child_from_before_the_command_is_outside) {
    machine.fork(fake_processes::elog_pid, 210);  // the shell started it, then became elog by exec
    start(false);
    EXPECT_EQ(decide(210), scope_verdict::outside);
    machine.fork(210, 211);
    EXPECT_EQ(decide(211), scope_verdict::outside);
    machine.fork(210, 212);
    machine.exit_and_reap(210);
    EXPECT_EQ(decide(212), scope_verdict::undecided);  // may be of either
    EXPECT_EQ(decide(command), scope_verdict::inside);
}

TEST_F(command_scope_rule, fork_events_tell_orphans_of_earlier_children_apart) {
    machine.fork(fake_processes::elog_pid, 210);
    start(true);
    machine.fork(command, 301);
    machine.fork(301, 302);
    machine.exit_and_reap(301);
    machine.fork(210, 211);
    machine.exit_and_reap(210);
    machine.exit(211);
    machine.exit(302);
    scope->poll();
    EXPECT_EQ(scope->decide(302, 2010), scope_verdict::inside);
    EXPECT_EQ(scope->decide(211, 2010), scope_verdict::outside);
}

TEST_F(command_scope_rule, zombie_orphan_is_reaped_and_stays_inside) {
    start(false);
    machine.fork(command, 301);
    machine.fork(301, 302);
    machine.exit_and_reap(301);
    machine.exit(302);
    scope->poll();
    EXPECT_FALSE(machine.exists(302));
    EXPECT_EQ(scope->decide(302, 2010), scope_verdict::inside);
}

TEST_F(command_scope_rule, commands_end_is_left_to_its_owner) {
    start(false);
    machine.exit(command);
    scope->poll();
    EXPECT_TRUE(machine.exists(command));
    EXPECT_EQ(decide(command), scope_verdict::inside);
}

TEST_F(command_scope_rule, ended_process_seen_by_a_scan_is_decided) {
    start(false);
    machine.fork(command, 301);
    machine.fork(daemon_pid, 401);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until a scan is due
    scope->poll();
    machine.exit_and_reap(301);
    machine.exit_and_reap(401);
    EXPECT_EQ(scope->decide(301, 2010), scope_verdict::inside);
    EXPECT_EQ(scope->decide(401, 2010), scope_verdict::outside);
}

TEST_F(command_scope_rule, unseen_short_lived_process_is_undecided_without_fork_events) {
    start(false);
    machine.fork(command, 301);
    machine.exit_and_reap(301);
    EXPECT_EQ(scope->decide(301, 2010), scope_verdict::undecided);
}

TEST_F(command_scope_rule, unseen_short_lived_processes_are_decided_by_fork_events) {
    start(true);
    machine.fork(command, 301);
    machine.fork(301, 302);
    machine.exit_and_reap(302);
    machine.exit_and_reap(301);
    machine.fork(daemon_pid, 401);
    machine.exit_and_reap(401);
    EXPECT_EQ(scope->decide(302, 2010), scope_verdict::inside);
    EXPECT_EQ(scope->decide(301, 2010), scope_verdict::inside);
    EXPECT_EQ(scope->decide(401, 2010), scope_verdict::outside);
    // The start time is sometimes unknown.
    EXPECT_EQ(scope->decide(302, 0), scope_verdict::inside);
    EXPECT_EQ(scope->decide(401, 0), scope_verdict::outside);
}

TEST_F(command_scope_rule, ended_process_is_decided_by_its_stated_parent) {
    start(false);
    machine.fork(command, 301);
    machine.fork(301, 302);
    machine.fork(daemon_pid, 401);
    for (const std::uint32_t pid : {302U, 301U, 401U}) {
        machine.exit_and_reap(pid);
    }
    EXPECT_EQ(scope->decide(302, 2010, 301), scope_verdict::undecided);  // 301 is unknown
    EXPECT_EQ(scope->decide(301, 2010, command), scope_verdict::inside);
    EXPECT_EQ(scope->decide(302, 2010, 301), scope_verdict::inside);
    EXPECT_EQ(scope->decide(401, 2010, daemon_pid), scope_verdict::outside);
    EXPECT_EQ(scope->decide(303, 2010, fake_processes::elog_pid), scope_verdict::inside);
}

TEST_F(command_scope_rule, number_of_stated_parent_may_be_reused) {
    start(false);
    machine.fork(command, 301);
    machine.exit_and_reap(301);
    machine.now = 5000;
    machine.fork(daemon_pid, 301);
    EXPECT_EQ(scope->decide(302, 2010, 301), scope_verdict::undecided);
    EXPECT_EQ(scope->decide(303, 5000, 301), scope_verdict::outside);
    machine.exit_and_reap(301);
    EXPECT_EQ(scope->decide(304, 5000, 301), scope_verdict::undecided);
}

TEST_F(command_scope_rule, reported_time_may_be_one_tick_late) {
    start(true);
    machine.fork(command, 301);
    machine.exit_and_reap(301);
    EXPECT_EQ(scope->decide(301, 2009), scope_verdict::inside);
    EXPECT_EQ(scope->decide(301, 2008), scope_verdict::undecided);
}

TEST_F(command_scope_rule, reused_pid_is_another_process) {
    start(true);
    machine.fork(command, 301);
    machine.exit_and_reap(301);
    machine.now = 5000;
    machine.fork(daemon_pid, 301);
    EXPECT_EQ(scope->decide(301, 5000), scope_verdict::outside);
    EXPECT_EQ(scope->decide(301, 2010), scope_verdict::inside);
    machine.exit_and_reap(301);
    EXPECT_EQ(scope->decide(301, 5000), scope_verdict::outside);
}

TEST_F(command_scope_rule, reused_pid_is_not_taken_for_an_ended_process) {
    start(false);
    machine.fork(command, 301);
    machine.exit_and_reap(301);
    machine.now = 5000;
    machine.fork(daemon_pid, 301);
    EXPECT_EQ(scope->decide(301, 2010), scope_verdict::undecided);
    EXPECT_EQ(scope->decide(301, 5000), scope_verdict::outside);
}

TEST_F(command_scope_rule, parent_that_ends_during_the_walk_is_no_mistake) {
    start(false);
    machine.fork(command, 301);
    machine.fork(301, 302);
    machine.fork(302, 303);
    // Between the reading of the child and that of its parent, whose pid is reused.
    machine.before_find = [this] {
        machine.before_find = [this] {
            machine.exit_and_reap(302);
            machine.fork(daemon_pid, 302);
        };
    };
    EXPECT_EQ(decide(303), scope_verdict::inside);
}

TEST_F(command_scope_rule, lost_fork_events_never_exclude_a_descendant) {
    start(true);
    machine.fork(command, 301);
    machine.loses_forks = true;  // that of 301 too
    scope->poll();               // a scan finds it
    machine.fork(301, 302);
    machine.fork(302, 303);
    machine.exit_and_reap(302);
    EXPECT_EQ(decide(303), scope_verdict::inside);
    machine.exit_and_reap(303);
    machine.fork(301, 304);
    machine.exit_and_reap(304);
    EXPECT_EQ(scope->decide(304, 2010), scope_verdict::undecided);
}

TEST_F(command_scope_rule, fork_events_without_the_command_are_not_trusted) {
    machine.reports_forks = true;
    scope.emplace(std::move(owned_machine));
    machine.fork(fake_processes::elog_pid, command);
    machine.now += 100;
    machine.reports_forks = true;
    std::vector<elog::fork_event> elsewhere;
    ASSERT_TRUE(machine.take_forks(elsewhere));  // as if the events were of another namespace
    scope->begin(command);
    machine.fork(command, 301);
    machine.exit_and_reap(301);
    EXPECT_EQ(scope->decide(301, 2100), scope_verdict::undecided);
}

TEST_F(command_scope_rule, hidden_processes_are_undecided) {
    start(false);
    machine.fork(command, 301);
    machine.hides_others = true;
    EXPECT_EQ(decide(301), scope_verdict::undecided);
}

TEST_F(command_scope_rule, number_in_inner_pid_namespace_is_found) {
    start(false);
    machine.fork_in_inner_namespace(command, 301, 7);
    EXPECT_EQ(scope->decide(7, 2010), scope_verdict::inside);
}

TEST_F(command_scope_rule, process_of_outer_pid_namespace_is_outside) {
    start(false);
    EXPECT_EQ(scope->decide(0, 2010), scope_verdict::outside);
}

TEST_F(command_scope_rule, thread_is_decided_by_its_process) {
    start(false);
    machine.fork(command, 301);  // /proc shows the parent of its process for a thread
    EXPECT_EQ(scope->decide_thread(301), scope_verdict::inside);
    EXPECT_EQ(scope->decide_thread(0), scope_verdict::outside);
    EXPECT_EQ(scope->decide_thread(daemon_pid), scope_verdict::outside);
    machine.exit_and_reap(301);
    machine.now += 10;
    machine.fork(daemon_pid, 301);
    scope->poll();
    EXPECT_EQ(scope->decide_thread(301), scope_verdict::outside);
}

TEST_F(command_scope_rule, everything_is_outside_before_the_command) {
    scope.emplace(std::move(owned_machine));
    scope->poll();
    EXPECT_EQ(decide(daemon_pid), scope_verdict::outside);
}

}  // namespace
