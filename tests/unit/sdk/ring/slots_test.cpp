// SPDX-License-Identifier: MIT
//
// A region is unmapped when no thread is inside of it.
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"
#include "ring/record_header.hpp"
#include "ring/ring_writer.hpp"
#include "ring/rseq.hpp"
#include "ring/subscription_slots.hpp"
#include "run_in_child.hpp"
#include "syscall_override.hpp"

namespace {

using namespace eventlog::core;
using eventlog::test::deny_syscall;
using eventlog::test::event_listener;
using eventlog::test::run_in_child;

struct visit {
    std::uint32_t number;
};
using slots_test = eventlog::provider<"slots_test", visit>;

/// Attaches to a new subscription and returns its slot.
subscription_slot* slot_of(event_listener& listener) {
    slots_test::emit(visit{1});
    for (subscription_slot& each : subscription_slots) {
        if (each.serial.load() == listener.source().header().serial) {
            return &each;
        }
    }
    return nullptr;
}

TEST(slots, are_unmapped_when_unused) {
    event_listener listener("slots_test:*");
    subscription_slot* slot = slot_of(listener);
    ASSERT_NE(slot, nullptr);
    std::optional<slot_user> user(std::in_place, *slot, slot->mapping.load());
    EXPECT_TRUE(user->holds());
    EXPECT_FALSE(unmap_slot(*slot));
    EXPECT_NE(slot->base.load(), nullptr);
    user.reset();
    EXPECT_TRUE(unmap_slot(*slot));
    EXPECT_EQ(slot->base.load(), nullptr);
}

TEST(slots, have_another_number_when_a_region_is_mapped_again) {
    event_listener listener("slots_test:*");
    subscription_slot* slot = slot_of(listener);
    ASSERT_NE(slot, nullptr);
    const std::uint64_t before = slot->mapping.load();
    ASSERT_TRUE(unmap_slot(*slot));
    slots_test::emit(visit{2});
    ASSERT_EQ(slot->serial.load(), listener.source().header().serial);
    EXPECT_NE(slot->mapping.load(), before);
    // As by a thread that has been held up since.
    EXPECT_FALSE(slot_user(*slot, before).holds());
    const std::uint64_t payload = 3;
    const auto write = [&](std::uint64_t mapping) {
        return write_record(*slot, mapping, provider_part(1), {0, sizeof payload, &payload, {}});
    };
    EXPECT_EQ(write(before), write_result::stale);
    EXPECT_NE(write(slot->mapping.load()), write_result::stale);
    listener.finish();
    EXPECT_EQ(listener.records().size(), 3U);
    EXPECT_EQ(listener.providers().size(), 1U);
}

TEST(slots, are_used_in_forked_child_by_forking_thread_only) {
    event_listener listener("slots_test:*");
    subscription_slot* slot = slot_of(listener);
    ASSERT_NE(slot, nullptr);
    const std::uint64_t mapping = slot->mapping.load();
    // As if a signal handler had interrupted the user of the slot and forks.
    std::optional<slot_user> user(std::in_place, *slot, mapping);
    std::atomic<int> stage{0};
    std::thread other([&] {
        const slot_user second(*slot, mapping);
        stage = 1;
        stage.notify_all();
        stage.wait(1);
    });
    stage.wait(0);
    EXPECT_EQ(run_in_child([&] {
                  if (slot->users.is_zero() || unmap_slot(*slot)) {
                      return 1;
                  }
                  user.reset();
                  return !slot->users.is_zero() || !unmap_slot(*slot) ? 2 : 0;
              }),
              0);
    stage = 2;
    stage.notify_all();
    other.join();
}

TEST(slots, are_kept_without_membarrier_rseq) {
    if (!rseq_available()) {
        GTEST_SKIP() << "no restartable sequences here";
    }
    event_listener listener("slots_test:*");
    subscription_slot* slot = slot_of(listener);
    ASSERT_NE(slot, nullptr);
    EXPECT_EQ(run_in_child([slot] {
                  if (!deny_syscall(SYS_membarrier)) {
                      return 1;
                  }
                  return unmap_slot(*slot) || slot->base.load() == nullptr ? 2 : 0;
              }),
              0);
}

TEST(slots, disable_sequences_without_membarrier_rseq) {
    EXPECT_EQ(run_in_child([] {
                  if (!deny_syscall(SYS_membarrier)) {
                      return 1;
                  }
                  configure_rseq(register_membarrier());
                  return rseq_available() ? 2 : 0;
              }),
              0);
}

}  // namespace
