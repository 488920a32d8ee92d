// SPDX-License-Identifier: MIT
//
// A signal handler that interrupts the holder of the shared ring's lock forks: the ring stays with
// the parent, and the child attaches again.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "build_kind.hpp"
#include "listener.hpp"
#include "ring/ring_lock.hpp"
#include "ring/ring_writer.hpp"
#include "ring/subscription_slots.hpp"
#include "ring_fixture.hpp"

namespace {

using namespace eventlog::core;
using eventlog::test::event_listener;
using eventlog::test::plain;
using eventlog::test::ring_test;
using eventlog::test::slot_of;
using eventlog::test::tick;

constexpr std::uint64_t buffer_size = 1U << 20U;

// The input and the results of the signal handler.
struct {
    eventlog_ring* ring = nullptr;
    unsigned char* buffer = nullptr;  // not writable before a thread writes to it
    std::array<int, 2> from_child{};  // a pipe: the child has released the lock
    pid_t child = -1;
    std::uint64_t control_before = 0;
    bool is_untouched = false;  // control word and lock, after the child's actions
} scene;

void fork_while_it_is_held(int /*signal*/) {
    const std::uint64_t holder = shared(scene.ring->lock).load();
    scene.control_before = shared(scene.ring->control).load();
    if (scene.buffer != nullptr) {
        static_cast<void>(::mprotect(scene.buffer, buffer_size, PROT_READ | PROT_WRITE));
    }
    scene.child = ::fork();
    if (scene.child != 0) {
        char byte = 0;
        const bool has_left = ::read(scene.from_child[0], &byte, 1) == 1;
        scene.is_untouched = has_left && holder != 0 && shared(scene.ring->lock).load() == holder &&
                             shared(scene.ring->control).load() == scene.control_before;
    }
}

void handle(int signal) {
    struct sigaction action {};
    action.sa_handler = fork_while_it_is_held;
    ASSERT_EQ(::sigaction(signal, &action, nullptr), 0);
}

class forked_lock_holder : public ::testing::Test {
  protected:
    void SetUp() override {
        ring_test::emit(tick{0});
        slot = slot_of(listener);
        ASSERT_NE(slot, nullptr);
        scene = {};
        scene.ring = slot->ring(slot->ring_count.load() - 1);
        ASSERT_EQ(::pipe(scene.from_child.data()), 0);
        ASSERT_EQ(::pipe(go.data()), 0);
        // The ring has a record.
        ASSERT_EQ(write(), write_result::written);
        listener.poll();
        listener.clear_records();
    }
    void TearDown() override {
        for (const int end : {scene.from_child[0], scene.from_child[1], go[0], go[1]}) {
            ::close(end);
        }
    }

    write_result write() {
        const std::uint64_t payload = 1;
        return plain(write_record_shared(*slot, slot->mapping.load(),
                                         eventlog::test::first_provider,
                                         {0, sizeof payload, &payload, {}}));
    }

    /// The child after it released the lock: it emits once the parent has released the lock as
    /// well.
    [[noreturn]] void end_child(bool is_right) {
        char byte = 0;
        const bool in_step =
            ::write(scene.from_child[1], "l", 1) == 1 && ::read(go[0], &byte, 1) == 1;
        ring_test::emit(tick{7});
        ::_exit(in_step && is_right ? 0 : 1);
    }

    /// In the parent: expects that the child ended and that its event was received.
    void expect_child_event() {
        ASSERT_EQ(::write(go[1], "g", 1), 1);
        int status = -1;
        ASSERT_EQ(::waitpid(scene.child, &status, 0), scene.child);
        EXPECT_EQ(status, 0);
        EXPECT_TRUE(scene.is_untouched);
        listener.finish();
        EXPECT_EQ(listener.totals().damaged, 0U);
        std::size_t received = 0;
        for (const eventlog::test::received_record& record : listener.records()) {
            received += listener.providers().at(record.header.provider).pid ==
                        static_cast<std::uint32_t>(scene.child);
        }
        EXPECT_EQ(received, 1U);
    }

    event_listener listener{"ring_test:*", {buffer_size, 2}};
    subscription_slot* slot = nullptr;
    std::array<int, 2> go{};  // a pipe: the child may emit
};

TEST_F(forked_lock_holder, child_touches_neither_lock_nor_ring) {
    std::optional<slot_user> user(std::in_place, *slot, slot->mapping.load());
    std::optional<ring_lock> lock(std::in_place, *slot, scene.ring);
    ASSERT_TRUE(lock->held());
    const pid_t parent = ::getpid();
    // As if a signal handler had interrupted the holder.
    fork_while_it_is_held(0);
    if (::getpid() != parent) {
        // As if the thread had been about to commit.
        shared(scene.ring->control).store(scene.control_before + 1);
        const bool was_left = lock->belongs_to_parent();
        lock.reset();
        user.reset();
        end_child(was_left && slot->mapping.load() == 0);
    }
    EXPECT_FALSE(lock->belongs_to_parent());
    lock.reset();
    user.reset();
    EXPECT_EQ(shared(scene.ring->lock).load(), 0U);
    EXPECT_EQ(write(), write_result::written);
    expect_child_event();
}

TEST_F(forked_lock_holder, child_restarts_record_from_any_point) {
    if (eventlog::test::has_address_sanitizer || eventlog::test::has_thread_sanitizer) {
        GTEST_SKIP() << "sanitizers have a handler of their own for what is forbidden";
    }
    handle(SIGSEGV);
    scene.buffer = slot->buffers(slot->ring_count.load() - 1);
    ASSERT_EQ(::mprotect(scene.buffer, buffer_size, PROT_NONE), 0);
    const pid_t parent = ::getpid();
    const write_result result = write();
    if (::getpid() != parent) {
        end_child(result == write_result::stale);
    }
    EXPECT_EQ(result, write_result::written);
    EXPECT_EQ(shared(scene.ring->control).load(),
              scene.control_before + (std::uint64_t{1} << EVENTLOG_COUNT_SHIFT) +
                  (EVENTLOG_EXTENDED_HEADER_SIZE + 8) / EVENTLOG_RECORD_ALIGNMENT);
    expect_child_event();
}

}  // namespace
