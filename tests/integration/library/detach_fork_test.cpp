// SPDX-License-Identifier: MIT
//
// Parent and forked child detach from an ended subscription independently of each other.
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "detach_fixture.hpp"
#include "run_in_child.hpp"

namespace {

using namespace detach_test;
using eventlog::test::run_in_child;

/// Two pipes by which parent and child wait for each other.
class barrier_pair {
  public:
    barrier_pair() {
        EXPECT_EQ(::pipe(ends_.data()), 0);
        EXPECT_EQ(::pipe(ends_.data() + 2), 0);
    }
    ~barrier_pair() {
        for (const int end : ends_) {
            ::close(end);
        }
    }
    barrier_pair(const barrier_pair&) = delete;
    barrier_pair& operator=(const barrier_pair&) = delete;

    void signal_child() { EXPECT_EQ(::write(ends_[1], "g", 1), 1); }
    void wait_for_child() {
        char byte = 0;
        EXPECT_EQ(::read(ends_[2], &byte, 1), 1);
    }
    bool signal_parent_and_wait() {
        char byte = 0;
        return ::write(ends_[3], "r", 1) == 1 && ::read(ends_[0], &byte, 1) == 1;
    }

  private:
    std::array<int, 4> ends_{};
};

TEST_F(detach, runs_in_forked_child_at_its_next_emit) {
    std::optional<event_listener> listener("leaving_test:*");
    detach_provider::emit(wanted{1});
    barrier_pair both;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const bool was_there = mapped_regions() == 1;
        const bool in_step = both.signal_parent_and_wait();
        detach_provider::emit(unwanted{2});
        ::_exit(was_there && in_step && are_all_detached() ? 0 : 1);
    }
    both.wait_for_child();
    listener.reset();
    both.signal_child();
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    // The child has not detached its parent.
    EXPECT_EQ(mapped_regions(), 1);
    detach_provider::emit(unwanted{3});
    EXPECT_EQ(mapped_regions(), 0);
}

TEST_F(detach, runs_in_fork_if_parent_has_not_detached) {
    std::optional<event_listener> listener("leaving_test:*");
    detach_provider::emit(wanted{1});
    listener.reset();
    EXPECT_EQ(run_in_child([] { return mapped_regions(); }), 0);
    EXPECT_EQ(mapped_regions(), 1);
}

TEST_F(detach, runs_in_fork_if_child_is_not_selected) {
    elog::subscription_options options;
    options.patterns.add("leaving_test:*");
    options.patterns.add_process(static_cast<std::uint32_t>(::getpid()));
    options.buffer_size = 128U << 10U;
    const elog::subscription parents_only(options);
    detach_provider::emit(wanted{1});
    EXPECT_EQ(mapped_regions(), 1);
    EXPECT_EQ(run_in_child([] { return mapped_regions(); }), 0);
    EXPECT_EQ(mapped_regions(), 1);
}

TEST_F(detach, waits_in_child_forked_by_signal_handler) {
    std::optional<event_listener> listener("leaving_test:*");
    detach_provider::emit(wanted{1});
    std::optional<slot_user> user(std::in_place, slot_of(*listener),
                                  slot_of(*listener).mapping.load());
    listener.reset();
    EXPECT_EQ(run_in_child([&] {
                  detach_provider::emit(wanted{2});
                  if (mapped_regions() != 1) {
                      return 1;
                  }
                  user.reset();
                  return at_some_emit(are_all_detached) ? 0 : 2;
              }),
              0);
}

TEST_F(detach, is_skipped_in_raw_clone_child) {
    std::optional<event_listener> listener("leaving_test:*");
    detach_provider::emit(wanted{1});
    listener.reset();
    // As fork() calls it; the child shares its parent's gate.
    const auto child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    ASSERT_GE(child, 0);
    if (child == 0) {
        detach_provider::emit(wanted{2});
        ::_exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(mapped_regions(), 1);
    detach_provider::emit(wanted{3});
    EXPECT_EQ(mapped_regions(), 0);
}

}  // namespace
