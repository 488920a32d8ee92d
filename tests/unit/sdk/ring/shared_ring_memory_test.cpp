// SPDX-License-Identifier: MIT
//
// The shared ring's memory when a process attaches: its allocation and its release.
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "listener.hpp"
#include "platform/populate.hpp"
#include "ring/ring_writer.hpp"
#include "ring/rseq.hpp"
#include "ring/subscription_slots.hpp"
#include "ring_fixture.hpp"
#include "run_in_child.hpp"
#include "scratch.hpp"
#include "shm/subscription_file.hpp"
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

constexpr std::uint64_t buffer_size = 1U << 20U;
constexpr std::uint32_t buffers_per_cpu = 2;

TEST(shared_ring, is_preallocated_where_late_allocation_is_impossible) {
    EXPECT_EQ(run_in_child([] {
                  if (!deny_syscall(SYS_madvise)) {
                      return 1;
                  }
                  event_listener listener("ring_test:*", {buffer_size, buffers_per_cpu});
                  ring_test::emit(tick{0});
                  subscription_slot* slot = slot_of(listener);
                  if (is_shared_ring_lazy(listener.source().header()) || slot == nullptr) {
                      return 2;
                  }
                  const eventlog_ring* ring = slot->ring(slot->ring_count.load() - 1);
                  const std::uint64_t payload = 0;
                  const write_result result = plain(
                      write_record_shared(*slot, slot->mapping.load(),
                                          eventlog::test::first_provider, {0, 8, &payload, {}}));
                  listener.finish();
                  return ring->backed != 0 && result == write_result::written &&
                                 listener.records().size() == 2
                             ? 0
                             : 3;
              }),
              0);
}

TEST(shared_ring, is_fully_allocated_by_attaching_process_without_rseq) {
    if (!can_populate()) {
        GTEST_SKIP() << "the shared ring is preallocated here";
    }
    EXPECT_EQ(run_in_child([] {
                  configure_rseq(false);
                  event_listener listener("ring_test:*", {buffer_size, buffers_per_cpu});
                  ring_test::emit(tick{0});
                  subscription_slot* slot = slot_of(listener);
                  if (slot == nullptr) {
                      return 1;
                  }
                  eventlog_ring* ring = slot->ring(slot->ring_count.load() - 1);
                  return shared(ring->reserved_buffers).load() == buffers_per_cpu &&
                                 shared(ring->lock).load() == 0
                             ? 0
                             : 2;
              }),
              0);
}

/// A process attaches while another thread holds the shared ring's lock: it has allocated the ring
/// and waits to publish that. `meanwhile` runs at that moment, with the subscription.
class late_process {
  public:
    late_process() {
        configure_rseq(false);
        listener_.emplace("ring_test:*", event_listener::options{buffer_size, buffers_per_cpu});
    }

    /// Returns false if the file could not be written.
    template <class Meanwhile>
    bool join(Meanwhile meanwhile) {
        const std::uint64_t before = memory();
        bool is_set = set_lock(listener_->source().header().owner_pid_namespace << 32U |
                               static_cast<std::uint64_t>(::gettid()));
        std::atomic<bool> enough{false};
        std::thread joining([&enough] {
            do {
                ring_test::emit(tick{0});
            } while (!enough);
        });
        while (memory() < before + buffers_per_cpu * buffer_size) {
            std::this_thread::yield();
        }
        meanwhile(*listener_);
        is_set = set_lock(0) && is_set;
        enough = true;
        joining.join();
        return is_set;
    }

    void release() { release_memory(listener_->source().file(), listener_->source().geometry()); }

    [[nodiscard]] std::uint64_t memory() {
        struct stat status {};
        static_cast<void>(::fstat(listener_->source().file().get(), &status));
        return static_cast<std::uint64_t>(status.st_blocks) * 512;
    }

  private:
    bool set_lock(std::uint64_t holder) {
        const region_geometry& geometry = listener_->source().geometry();
        return ::pwrite(listener_->source().file().get(), &holder, sizeof holder,
                        static_cast<off_t>(geometry.ring_offset(geometry.ring_count - 1) +
                                           offsetof(eventlog_ring, lock))) ==
               static_cast<ssize_t>(sizeof holder);
    }

    std::optional<event_listener> listener_;
};

void remove_subscriptions() {
    std::filesystem::remove_all(eventlog::test::eventlog_directory() + "/subscriptions");
}

TEST(shared_ring, leaves_no_memory_after_removal_during_attach) {
    if (!can_populate()) {
        GTEST_SKIP() << "the shared ring is preallocated here";
    }
    EXPECT_EQ(run_in_child([] {
                  late_process late;
                  if (!late.join([](event_listener& listener) {
                          listener.source().end();
                          remove_subscriptions();
                      })) {
                      return 1;
                  }
                  // As the consumer does after the end, before or after the other process.
                  late.release();
                  return late.memory() < buffer_size ? 0 : 2;
              }),
              0);
}

TEST(shared_ring, keeps_memory_when_only_file_is_unlinked) {
    if (!can_populate()) {
        GTEST_SKIP() << "the shared ring is preallocated here";
    }
    EXPECT_EQ(run_in_child([] {
                  late_process late;
                  const std::uint64_t before = late.memory();
                  if (!late.join([](event_listener&) { remove_subscriptions(); })) {
                      return 1;
                  }
                  return late.memory() >= before ? 0 : 2;
              }),
              0);
}

TEST(shared_ring, does_not_trust_madvise_that_accepts_any_advice) {
    if (!can_populate() || !rseq_available()) {
        GTEST_SKIP() << "the shared ring is preallocated here";
    }
    EXPECT_EQ(run_in_child([] {
                  event_listener listener("ring_test:*", {buffer_size, buffers_per_cpu});
                  if (!override_syscall(SYS_madvise, 0)) {
                      return 1;
                  }
                  ring_test::emit(tick{0});  // attaches
                  subscription_slot* slot = slot_of(listener);
                  if (!is_shared_ring_lazy(listener.source().header()) || slot == nullptr) {
                      return 2;
                  }
                  const std::uint64_t payload = 0;
                  const write_result result = plain(
                      write_record_shared(*slot, slot->mapping.load(),
                                          eventlog::test::first_provider, {0, 8, &payload, {}}));
                  return result == write_result::lost_no_memory ? 0 : 3;
              }),
              0);
}

}  // namespace
