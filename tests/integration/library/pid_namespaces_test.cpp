// SPDX-License-Identifier: MIT
//
// A process in another pid namespace, as in a container, dies while it holds the shared ring's
// lock. A process that cannot see it waits briefly and for a limited time, or not at all.
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"
#include "ring/ring_lock.hpp"
#include "ring/ring_writer.hpp"
#include "ring/rseq.hpp"
#include "ring/subscription_slots.hpp"
#include "ring_fixture.hpp"
#include "run_in_child.hpp"
#include "syscall_override.hpp"

namespace {

using namespace eventlog::core;
using eventlog::test::deny_syscall;
using eventlog::test::event_listener;
using eventlog::test::override_syscall;
using eventlog::test::plain;
using eventlog::test::ring_test;
using eventlog::test::run_in_child;
using eventlog::test::slot_of;
using eventlog::test::tick;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr int burst = 1000;
constexpr milliseconds one_wait{
    50};  // for a holder of unknown state: the patience in ring_lock.cpp

/// A waiter for the lock polls: its processor time contains the whole wait, without delays of a
/// busy machine.
nanoseconds time_of_thread() {
    timespec now{};
    EXPECT_EQ(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
    return std::chrono::seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
}

class other_pid_namespace : public ::testing::Test {
  protected:
    void SetUp() override {
        ring_test::emit(tick{0});
        slot = slot_of(listener);
        ASSERT_NE(slot, nullptr);
        ring = slot->ring(slot->ring_count.load() - 1);
        ASSERT_EQ(write(), write_result::written);  // the ring has a record
    }

    write_result write() {
        const std::uint64_t payload = 1;
        return plain(write_record_shared(*slot, slot->mapping.load(),
                                         eventlog::test::first_provider,
                                         {0, sizeof payload, &payload, {}}));
    }

    /// The lock value of a holder in another namespace, dead or alive.
    [[nodiscard]] std::uint64_t foreign_namespace_process(std::uint32_t thread) {
        return (listener.source().header().owner_pid_namespace + 1) << 32U | thread;
    }

    /// Lets a thread of another pid namespace die while it holds the lock and copies a record.
    /// False: there is no such namespace.
    bool kill_holder();

    event_listener listener{"ring_test:*", {128U << 10U, 2}};
    subscription_slot* slot = nullptr;
    eventlog_ring* ring = nullptr;
};

/// In the middle of the copy: the page of the buffer is inaccessible.
void die_in_the_middle(int /*signal*/) {
    ::kill(::getpid(), SIGKILL);
}

bool other_pid_namespace::kill_holder() {
    unsigned char* const buffer = slot->buffers(slot->ring_count.load() - 1);
    const pid_t outside = ::fork();
    if (outside == 0) {
        if (::unshare(CLONE_NEWPID) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) {
            ::_exit(1);
        }
        // The first process of a namespace cannot be killed from inside: kill its child.
        const pid_t first = ::fork();
        if (first == 0) {
            const pid_t second = ::fork();
            if (second == 0) {
                struct sigaction action {};
                action.sa_handler = die_in_the_middle;
                ::sigaction(SIGSEGV, &action, nullptr);
                ::mprotect(buffer, std::size_t{256} << 10U, PROT_NONE);
                static_cast<void>(write());
                ::_exit(0);
            }
            int status = 0;
            ::waitpid(second, &status, 0);
            ::_exit(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : 2);
        }
        int status = 0;
        ::waitpid(first, &status, 0);
        ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 3);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(outside, &status, 0), outside);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_LE(WEXITSTATUS(status), 1);
    return WEXITSTATUS(status) == 0;
}

TEST_F(other_pid_namespace, thread_killed_with_lock_does_not_delay_writers) {
    if (!kill_holder()) {
        GTEST_SKIP() << "No pid namespaces here.";
    }
    const std::uint64_t left = shared(ring->lock).load();
    ASSERT_NE(left, 0U);
    EXPECT_NE(left >> 32U, listener.source().header().owner_pid_namespace & 0xffffffffU);
    EXPECT_TRUE(has_holder_died(left));
    for (int i = 0; i < burst; ++i) {
        ASSERT_EQ(write(), write_result::written) << i;
    }
    EXPECT_EQ(shared(ring->lock).load(), 0U);
    listener.finish();
    EXPECT_EQ(listener.totals().damaged, 0U);
    EXPECT_EQ(listener.totals().lost, 0U);
    EXPECT_EQ(std::count_if(listener.records().begin(), listener.records().end(),
                            [this](const auto& record) {
                                return record.ring == listener.reader().shared_ring();
                            }),
              burst + 1 + (rseq_available() ? 0 : 1));
}

/// One of the writers takes over the lock; the others wait for it as for any holder.
TEST_F(other_pid_namespace, killed_lock_holder_costs_waiters_no_event) {
    constexpr int rounds = 200;
    constexpr int writers = 4;
    std::barrier<> together(writers);
    std::atomic<int> refused{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < writers; ++i) {
            threads.emplace_back([&, i] {
                for (int round = 0; round < rounds; ++round) {
                    together.arrive_and_wait();
                    if (i == 0) {
                        shared(ring->lock)
                            .store((foreign_namespace_process(1) >> 32U << 32U) | FUTEX_OWNER_DIED);
                    }
                    together.arrive_and_wait();
                    refused += write() == write_result::written ? 0 : 1;
                }
            });
        }
    }
    EXPECT_EQ(refused.load(), 0);
    EXPECT_EQ(shared(ring->lock).load(), 0U);
}

/// As after a holder was killed between taking the lock and registering it with the kernel, or on a
/// kernel without that registration.
TEST_F(other_pid_namespace, unreported_dead_lock_holder_costs_bounded_time_and_losses_are_counted) {
    EXPECT_FALSE(has_holder_died(foreign_namespace_process(1)));
    shared(ring->lock).store(foreign_namespace_process(1));
    const nanoseconds before = time_of_thread();
    for (int i = 0; i < burst; ++i) {
        if (rseq_available()) {
            ASSERT_EQ(write(), write_result::lost_busy) << i;
        } else {
            ring_test::emit(tick{1});
        }
    }
    // One of them waits. If each did, the time would be a thousand waits on any machine.
    EXPECT_LT(time_of_thread() - before, burst / 50 * one_wait);
    listener.poll();
    EXPECT_EQ(listener.lost_by_providers(), rseq_available() ? 0U : std::uint64_t{burst});
    // A process of that namespace detects the death, or the holder continues.
    shared(ring->lock).store(0);
    EXPECT_EQ(write(), write_result::written);
    EXPECT_EQ(slot->unresponsive_holder.load(), 0U);
}

TEST_F(other_pid_namespace, robust_futex_notification_wakes_waiter_immediately) {
    shared(ring->lock).store(foreign_namespace_process(1));
    ASSERT_EQ(write(), write_result::lost_busy);
    shared(ring->lock).store(foreign_namespace_process(0) | FUTEX_OWNER_DIED);
    const nanoseconds before = time_of_thread();
    EXPECT_EQ(write(), write_result::written);
    EXPECT_LT(time_of_thread() - before, milliseconds(20));  // less than any wait
    EXPECT_EQ(slot->unresponsive_holder.load(), 0U);
    EXPECT_EQ(shared(ring->lock).load(), 0U);
}

TEST_F(other_pid_namespace, lock_is_used_without_robust_futex_support) {
    // Each thread queries the kernel once, so use a new thread: the only one of a child.
    const auto write_in_thread = [this] {
        write_result found = write_result::stale;
        std::thread([&] { found = write(); }).join();
        return found;
    };
    EXPECT_EQ(run_in_child([&] {
                  return deny_syscall(SYS_get_robust_list) &&
                                 write_in_thread() == write_result::written
                             ? 0
                             : 1;
              }),
              0);
    // As in an emulator that reports success without effect.
    EXPECT_EQ(run_in_child([&] {
                  return override_syscall(SYS_get_robust_list, 0) &&
                                 write_in_thread() == write_result::written
                             ? 0
                             : 1;
              }),
              0);
    EXPECT_EQ(shared(ring->lock).load(), 0U);
}

}  // namespace
