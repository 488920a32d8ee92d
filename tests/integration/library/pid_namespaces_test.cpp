// SPDX-License-Identifier: MIT
//
// A program in another pid namespace, as in a container, dies over the shared ring: whoever cannot
// see it there does not wait for it, or not for long, and not for ever.
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

#include "forbid_call.hpp"
#include "in_child.hpp"
#include "listener.hpp"
#include "ring/ring_lock.hpp"
#include "ring/ring_writer.hpp"
#include "ring/rseq.hpp"
#include "ring/subscription_slots.hpp"
#include "ring_fixture.hpp"

namespace {

using namespace eventlog::core;
using eventlog::test::answer_call;
using eventlog::test::forbid_call;
using eventlog::test::in_child;
using eventlog::test::listener;
using eventlog::test::plain;
using eventlog::test::ring_test;
using eventlog::test::slot_of;
using eventlog::test::tick;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr int burst = 1000;
constexpr milliseconds one_wait{
    50};  // for a holder of whom nothing is known: patience of ring_lock.cpp

/// Whoever waits for the lock goes on looking: all of a wait is in here, and nothing of what a busy
/// machine does meanwhile.
nanoseconds time_of_thread() {
    timespec now{};
    EXPECT_EQ(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
    return std::chrono::seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
}

class other_pid_namespace : public ::testing::Test {
  protected:
    void SetUp() override {
        ring_test::emit(tick{0});
        slot = slot_of(ears);
        ASSERT_NE(slot, nullptr);
        ring = slot->ring(slot->ring_count.load() - 1);
        ASSERT_EQ(write(), write_result::written);  // the ring has begun
    }

    write_result write() {
        const std::uint64_t payload = 1;
        return plain(
            write_record_shared(*slot, slot->serial.load(), 0, {0, sizeof payload, &payload, {}}));
    }

    /// The name of a holder that we cannot see, dead or alive.
    [[nodiscard]] std::uint64_t stranger(std::uint32_t thread) {
        return (ears.source().header().owner_pid_namespace + 1) << 32U | thread;
    }

    /// Has a thread of another pid namespace die while it has the lock and copies a record. False
    /// if there can be no such namespace.
    bool kill_holder();

    listener ears{"ring_test:*", {128U << 10U, 2}};
    subscription_slot* slot = nullptr;
    eventlog_ring* ring = nullptr;
};

/// In mid-copy: the page of the buffer may not be touched.
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
        // The first process of a namespace cannot be killed from inside: its child is.
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

TEST_F(other_pid_namespace, whose_thread_is_killed_with_the_lock_delays_nobody) {
    if (!kill_holder()) {
        GTEST_SKIP() << "No pid namespaces here.";
    }
    const std::uint64_t left = shared(ring->lock).load();
    ASSERT_NE(left, 0U);
    EXPECT_NE(left >> 32U, ears.source().header().owner_pid_namespace & 0xffffffffU);
    EXPECT_TRUE(has_holder_died(left));
    for (int i = 0; i < burst; ++i) {
        ASSERT_EQ(write(), write_result::written) << i;
    }
    EXPECT_EQ(shared(ring->lock).load(), 0U);
    ears.finish();
    EXPECT_EQ(ears.totals().damaged, 0U);
    EXPECT_EQ(ears.totals().lost, 0U);
    EXPECT_EQ(std::count_if(ears.records().begin(), ears.records().end(),
                            [this](const auto& record) {
                                return record.ring == ears.reader().shared_ring();
                            }),
              burst + 1 + (rseq_available() ? 0 : 1));
}

/// One of them takes the lock over, for a moment, for which the others wait as for any other.
TEST_F(other_pid_namespace, whose_death_costs_none_of_several_who_wait_an_event) {
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
                        shared(ring->lock).store((stranger(1) >> 32U << 32U) | FUTEX_OWNER_DIED);
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

/// As one leaves it that was killed between taking the lock and telling the kernel, or whose kernel
/// cannot be told.
TEST_F(other_pid_namespace, that_says_nothing_of_its_dead_costs_a_burst_little_and_is_counted) {
    EXPECT_FALSE(has_holder_died(stranger(1)));
    shared(ring->lock).store(stranger(1));
    const nanoseconds before = time_of_thread();
    for (int i = 0; i < burst; ++i) {
        if (rseq_available()) {
            ASSERT_EQ(write(), write_result::lost_busy) << i;
        } else {
            ring_test::emit(tick{1});
        }
    }
    // One waits. If each did, it would be a thousand times that, on whatever machine.
    EXPECT_LT(time_of_thread() - before, burst / 50 * one_wait);
    ears.poll();
    EXPECT_EQ(ears.lost_by_providers(), rseq_available() ? 0U : std::uint64_t{burst});
    // Somebody over there finds it dead, or it goes on.
    shared(ring->lock).store(0);
    EXPECT_EQ(write(), write_result::written);
    EXPECT_EQ(slot->unresponsive_holder.load(), 0U);
}

TEST_F(other_pid_namespace, that_is_told_of_by_the_kernel_while_we_wait_lets_us_go_on_at_once) {
    shared(ring->lock).store(stranger(1));
    ASSERT_EQ(write(), write_result::lost_busy);
    shared(ring->lock).store(stranger(0) | FUTEX_OWNER_DIED);
    const nanoseconds before = time_of_thread();
    EXPECT_EQ(write(), write_result::written);
    EXPECT_LT(time_of_thread() - before, milliseconds(20));  // less than any wait
    EXPECT_EQ(slot->unresponsive_holder.load(), 0U);
    EXPECT_EQ(shared(ring->lock).load(), 0U);
}

TEST_F(other_pid_namespace, is_no_reason_to_write_nothing_where_the_kernel_cannot_be_told) {
    // A thread asks the kernel once, so this is another: the only one of a child.
    const auto write_in_thread = [this] {
        write_result found = write_result::stale;
        std::thread([&] { found = write(); }).join();
        return found;
    };
    EXPECT_EQ(in_child([&] {
                  return forbid_call(SYS_get_robust_list) &&
                                 write_in_thread() == write_result::written
                             ? 0
                             : 1;
              }),
              0);
    // As where an emulator says yes and does nothing.
    EXPECT_EQ(in_child([&] {
                  return answer_call(SYS_get_robust_list, 0) &&
                                 write_in_thread() == write_result::written
                             ? 0
                             : 1;
              }),
              0);
    EXPECT_EQ(shared(ring->lock).load(), 0U);
}

}  // namespace
