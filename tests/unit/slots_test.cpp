// SPDX-License-Identifier: MIT
//
// Who may still be in a region decides when it is unmapped.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "in_child.hpp"
#include "listener.hpp"
#include "rseq.hpp"
#include "subscription_slots.hpp"

namespace {

using namespace eventlog::core;
using eventlog::test::in_child;
using eventlog::test::listener;

struct visit {
    std::uint32_t number;
};
using slots_test = eventlog::provider<"slots_test", visit>;

/// Attaches to a new subscription and says in which slot.
subscription_slot* slot_of(listener& ears) {
    slots_test::emit(visit{1});
    for (subscription_slot& each : subscription_slots) {
        if (each.serial.load() == ears.source().header().serial) {
            return &each;
        }
    }
    return nullptr;
}

/// From now on membarrier fails, as in some sandboxes.
bool take_membarrier_away() {
    std::array<sock_filter, 4> program{{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    }};
    const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(slots, are_unmapped_when_nobody_is_in_them) {
    listener ears("slots_test:*");
    subscription_slot* slot = slot_of(ears);
    ASSERT_NE(slot, nullptr);
    std::optional<slot_user> user(std::in_place, *slot, slot->serial.load());
    EXPECT_TRUE(user->holds());
    EXPECT_FALSE(unmap_slot(*slot));
    EXPECT_NE(slot->base.load(), nullptr);
    user.reset();
    EXPECT_TRUE(unmap_slot(*slot));
    EXPECT_EQ(slot->base.load(), nullptr);
}

TEST(slots, are_used_in_a_forked_child_by_the_thread_that_forked_alone) {
    listener ears("slots_test:*");
    subscription_slot* slot = slot_of(ears);
    ASSERT_NE(slot, nullptr);
    const std::uint64_t serial = slot->serial.load();
    // As if a handler had interrupted it in there, and forks.
    std::optional<slot_user> user(std::in_place, *slot, serial);
    std::atomic<int> stage{0};
    std::thread other([&] {
        const slot_user second(*slot, serial);
        stage = 1;
        stage.notify_all();
        stage.wait(1);
    });
    stage.wait(0);
    EXPECT_EQ(in_child([&] {
                  if (slot->users.load() != 1 || unmap_slot(*slot)) {
                      return 1;
                  }
                  user.reset();
                  return slot->users.load() != 0 || !unmap_slot(*slot) ? 2 : 0;
              }),
              0);
    stage = 2;
    stage.notify_all();
    other.join();
}

TEST(slots, stay_as_they_are_where_running_sequences_cannot_be_restarted) {
    if (!rseq_available()) {
        GTEST_SKIP() << "no restartable sequences here";
    }
    listener ears("slots_test:*");
    subscription_slot* slot = slot_of(ears);
    ASSERT_NE(slot, nullptr);
    EXPECT_EQ(in_child([slot] {
                  if (!take_membarrier_away()) {
                      return 1;
                  }
                  return unmap_slot(*slot) || slot->base.load() == nullptr ? 2 : 0;
              }),
              0);
}

TEST(slots, see_no_sequences_where_these_cannot_be_restarted) {
    EXPECT_EQ(in_child([] {
                  if (!take_membarrier_away()) {
                      return 1;
                  }
                  choose_rseq(prepare_unmapping());
                  return rseq_available() ? 2 : 0;
              }),
              0);
}

}  // namespace
