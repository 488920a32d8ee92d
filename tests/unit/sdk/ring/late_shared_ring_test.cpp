// SPDX-License-Identifier: MIT
//
// The shared ring's buffers get their memory from whoever needs them first, or events are lost, and
// counted, for want of it.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "base/cpus.hpp"
#include "forbid_call.hpp"
#include "in_child.hpp"
#include "listener.hpp"
#include "platform/populate.hpp"
#include "ring/ring_writer.hpp"
#include "ring/rseq.hpp"
#include "ring/subscription_slots.hpp"
#include "ring_fixture.hpp"
#include "scratch.hpp"
#include "shm/subscription_file.hpp"

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

constexpr std::uint64_t buffer_size = 1U << 20U;
constexpr std::uint32_t buffers_per_cpu = 2;
constexpr std::size_t record_payload = 60000;

/// A subscription in either mode. The provider is attached to it with an event of its own, which
/// stands in the ring of a CPU.
class late_shared_ring : public ::testing::TestWithParam<bool> {
  protected:
    void SetUp() override {
        if (!can_populate() || !rseq_available()) {
            GTEST_SKIP() << "here the shared ring has its memory before anybody writes there";
        }
        ring_test::emit(tick{0});
        slot = slot_of(ears);
        ASSERT_NE(slot, nullptr);
        ears.poll();
        ears.forget_records();
    }

    write_result write(std::size_t size = record_payload) {
        static const std::vector<std::uint8_t> payload(record_payload + 8);
        return plain(
            write_record_shared(*slot, slot->serial.load(), 0, {0, size, payload.data(), {}}));
    }

    [[nodiscard]] std::uint64_t memory() {
        struct stat status {};
        EXPECT_EQ(::fstat(ears.source().file().get(), &status), 0);
        return static_cast<std::uint64_t>(status.st_blocks) * 512;
    }

    /// What is not mapped for writing gets no memory, as if there were none.
    void forbid(std::uint32_t buffer, bool forbidden = true) {
        ASSERT_EQ(::mprotect(slot->buffers(shared_ring()) + buffer * buffer_size, buffer_size,
                             forbidden ? PROT_READ : PROT_READ | PROT_WRITE),
                  0);
        slot->allocation_not_before.store(0);
    }

    [[nodiscard]] std::uint32_t shared_ring() const { return slot->ring_count.load() - 1; }

    listener ears{"ring_test:*", {buffer_size, buffers_per_cpu, GetParam()}};
    subscription_slot* slot = nullptr;
};

TEST_P(late_shared_ring, takes_nothing_while_nobody_writes_there) {
    const elog::system_cpus cpus = elog::read_cpus();
    std::uint64_t asked = 0;
    for (const bool is_online : cpus.online) {
        asked += is_online ? buffers_per_cpu * buffer_size : 0;
    }
    for (std::uint64_t i = 0; i < 1000; ++i) {
        ring_test::emit(tick{i});
    }
    EXPECT_GE(memory(), asked);
    EXPECT_LE(memory(), asked + asked / 20);
}

TEST_P(late_shared_ring, gets_memory_buffer_by_buffer_and_loses_nothing) {
    const std::uint64_t before = memory();
    errno = 0;
    ASSERT_EQ(write(), write_result::written);
    EXPECT_EQ(errno, 0);
    EXPECT_EQ(memory(), before + buffer_size);
    std::uint64_t written = 1;
    // Through all buffers, and once more.
    for (; written < 3 * buffer_size * buffers_per_cpu / record_payload; ++written) {
        ASSERT_EQ(write(), write_result::written) << written;
        ears.poll();
    }
    EXPECT_EQ(memory(), before + buffers_per_cpu * buffer_size);
    ears.finish();
    ASSERT_EQ(ears.records().size(), written);
    EXPECT_EQ(ears.records().front().ring, shared_ring());
    EXPECT_EQ(ears.records().front().sequence, 0U);
    EXPECT_EQ(ears.totals().lost, 0U);
}

TEST_P(late_shared_ring, without_memory_loses_and_tells_before_the_first_record) {
    forbid(0);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(write(8), write_result::lost_no_memory);
        ears.poll();
    }
    EXPECT_TRUE(ears.records().empty());
    forbid(0, false);
    ASSERT_EQ(write(8), write_result::written);
    ears.poll();
    ASSERT_EQ(ears.records().size(), 1U);
    EXPECT_EQ(ears.records().front().lost_before, 3U);
    EXPECT_EQ(ears.records().front().sequence, 3U);
    ears.finish();
    EXPECT_EQ(ears.totals().lost, 3U);
}

TEST_P(late_shared_ring, without_memory_for_the_next_buffer_tells_the_gap_where_it_is) {
    forbid(1);
    std::uint64_t written = 0;
    while (write() == write_result::written) {
        ++written;
        ASSERT_LT(written, 100U);
    }
    // One was lost; even small ones are, until there is memory: the gap lies between two buffers.
    EXPECT_EQ(write(8), write_result::lost_no_memory);
    ears.poll();
    EXPECT_EQ(ears.records().size(), written);
    forbid(1, false);
    ASSERT_EQ(write(8), write_result::written);
    ears.poll();
    ASSERT_EQ(ears.records().size(), written + 1);
    EXPECT_EQ(ears.records().back().lost_before, 2U);
    EXPECT_EQ(ears.records().back().sequence, written + 2);
    ears.finish();
    EXPECT_EQ(ears.totals().lost, 2U);
}

TEST_P(late_shared_ring, that_gets_no_memory_at_all_has_its_losses_told_at_the_end) {
    forbid(0);
    EXPECT_EQ(write(8), write_result::lost_no_memory);
    EXPECT_EQ(write(8), write_result::lost_no_memory);
    ears.finish();
    EXPECT_TRUE(ears.records().empty());
    EXPECT_EQ(ears.totals().lost, 2U);
}

TEST_P(late_shared_ring, is_not_asked_for_again_at_once) {
    forbid(0);
    EXPECT_EQ(write(8), write_result::lost_no_memory);
    const std::uint64_t until = slot->allocation_not_before.load();
    EXPECT_GT(until, 0U);
    slot->allocation_not_before.store(UINT64_MAX);
    const std::uint64_t before = memory();
    ASSERT_EQ(::mprotect(slot->buffers(shared_ring()), buffer_size, PROT_READ | PROT_WRITE), 0);
    EXPECT_EQ(write(8), write_result::lost_no_memory);
    EXPECT_EQ(memory(), before);
    slot->allocation_not_before.store(until);
}

TEST_P(late_shared_ring, gives_back_what_is_too_little_for_a_buffer) {
    const std::uint64_t before = memory();
    unsigned char* const second_half = slot->buffers(shared_ring()) + buffer_size / 2;
    ASSERT_EQ(::mprotect(second_half, buffer_size / 2, PROT_READ), 0);
    EXPECT_EQ(write(8), write_result::lost_no_memory);
    EXPECT_EQ(memory(), before);
    ASSERT_EQ(::mprotect(second_half, buffer_size / 2, PROT_READ | PROT_WRITE), 0);
    slot->allocation_not_before.store(0);
    EXPECT_EQ(write(8), write_result::written);
    ears.finish();
    ASSERT_EQ(ears.records().size(), 1U);
    EXPECT_EQ(ears.records().front().lost_before, 1U);
}

TEST_P(late_shared_ring, has_what_somebody_has_reserved_also_for_those_who_may_not_ask) {
    const elog::subscription& source = ears.source();
    ASSERT_EQ(
        ::posix_fallocate(source.file().get(),
                          static_cast<off_t>(source.geometry().buffer_offset(shared_ring(), 0)),
                          static_cast<off_t>(buffers_per_cpu * buffer_size)),
        0);
    shared(slot->ring(shared_ring())->reserved_buffers).store(buffers_per_cpu);
    EXPECT_EQ(in_child([&] {
                  if (!forbid_call(SYS_madvise)) {
                      return 1;
                  }
                  // Into the second buffer.
                  for (std::uint64_t i = 0; i < buffer_size / record_payload + 2; ++i) {
                      if (write() != write_result::written) {
                          return 2;
                      }
                  }
                  return 0;
              }),
              0);
}

TEST_P(late_shared_ring, is_begun_by_whoever_takes_it_over_from_a_thread_that_died_over_that) {
    eventlog_ring* ring = slot->ring(shared_ring());
    const std::uint64_t pid_namespace = ears.source().header().owner_pid_namespace;
    // A number that no process has. It may have got memory or not, and have noted losses or not.
    shared(ring->lock).store(pid_namespace << 32U | 0x7ffffff0U);
    ASSERT_TRUE(populate(slot->buffers(shared_ring()), buffer_size / 2));
    shared(descriptors_of(ring)->lost_before).store(7);
    ASSERT_EQ(write(8), write_result::written);
    ears.finish();
    ASSERT_EQ(ears.records().size(), 1U);
    EXPECT_EQ(ears.records().front().sequence, 0U);
    EXPECT_EQ(ears.totals().lost, 0U);
}

TEST_P(late_shared_ring, is_given_back_at_the_end_unless_a_thread_that_lives_has_the_lock) {
    ASSERT_EQ(write(8), write_result::written);
    eventlog_ring* ring = slot->ring(shared_ring());
    const std::uint64_t pid_namespace = ears.source().header().owner_pid_namespace;
    ears.finish();
    shared(ring->lock).store(pid_namespace << 32U | static_cast<std::uint64_t>(::gettid()));
    release_memory(ears.source().file(), ears.source().geometry());
    const std::uint64_t held = memory();
    EXPECT_GE(held, buffer_size);
    // A number that no process has.
    shared(ring->lock).store(pid_namespace << 32U | 0x7ffffff0U);
    release_memory(ears.source().file(), ears.source().geometry());
    EXPECT_EQ(memory(), held - buffer_size);
    shared(ring->lock).store(0);
}

TEST_P(late_shared_ring, is_begun_once_by_threads_that_come_together) {
    constexpr int threads = 4;
    std::atomic<int> waiting{threads};
    std::atomic<std::uint64_t> written{0};
    std::atomic<std::uint64_t> busy{0};
    std::vector<std::thread> writers;
    for (int i = 0; i < threads; ++i) {
        writers.emplace_back([&] {
            --waiting;
            while (waiting != 0) {
            }
            const write_result result = write(8);
            (result == write_result::written ? written : busy) += 1;
            EXPECT_TRUE(result == write_result::written || result == write_result::lost_busy);
        });
    }
    for (std::thread& writer : writers) {
        writer.join();
    }
    ears.finish();
    EXPECT_GE(written, 1U);
    EXPECT_EQ(ears.records().size(), written);
    EXPECT_EQ(written + busy, static_cast<std::uint64_t>(threads));
}

TEST_P(late_shared_ring, in_a_sandbox_that_forbids_it_loses_and_counts_and_others_go_on) {
    EXPECT_EQ(in_child([&] {
                  if (!forbid_call(SYS_madvise)) {
                      return 1;
                  }
                  return write(8) == write_result::lost_no_memory ? 0 : 2;
              }),
              0);
    ASSERT_EQ(write(8), write_result::written);
    ears.finish();
    ASSERT_EQ(ears.records().size(), 1U);
    EXPECT_EQ(ears.records().front().lost_before, 1U);
}

#if defined(__x86_64__) && defined(RSEQ_SIG)

/// From now on the calling thread has no restartable sequences.
bool give_up_sequences() {
    constexpr unsigned size = 32;  // as glibc has registered it
    auto* const area = static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset;
    return ::syscall(SYS_rseq, area, size, RSEQ_FLAG_UNREGISTER, RSEQ_SIG) == 0;
}

TEST_P(late_shared_ring, has_the_events_of_a_thread_without_sequences) {
    const std::uint64_t before = memory();
    bool has_none = false;
    std::thread thread([&has_none] {
        has_none = give_up_sequences();
        for (std::uint64_t i = 0; has_none && i < 1000; ++i) {
            ring_test::emit(tick{i});
        }
    });
    thread.join();
    if (!has_none) {
        GTEST_SKIP() << "this C library has registered them in another way";
    }
    EXPECT_EQ(memory(), before + buffer_size);
    ears.finish();
    EXPECT_EQ(ears.totals().lost + ears.lost_by_providers(), 0U);
    ASSERT_EQ(ears.records().size(), 1000U);
    for (std::uint64_t i = 0; i < 1000; ++i) {
        EXPECT_EQ(ears.records()[i].ring, shared_ring());
        EXPECT_EQ(ears.records()[i].sequence, i);
    }
}

#endif

INSTANTIATE_TEST_SUITE_P(modes, late_shared_ring, ::testing::Bool(), [](const auto& each) {
    return std::string(each.param ? "overwrite" : "discard");
});

TEST(shared_ring, is_reserved_at_once_where_nobody_can_give_it_memory_later) {
    EXPECT_EQ(in_child([] {
                  if (!forbid_call(SYS_madvise)) {
                      return 1;
                  }
                  listener ears("ring_test:*", {buffer_size, buffers_per_cpu});
                  ring_test::emit(tick{0});
                  subscription_slot* slot = slot_of(ears);
                  if (is_shared_ring_lazy(ears.source().header()) || slot == nullptr) {
                      return 2;
                  }
                  const eventlog_ring* ring = slot->ring(slot->ring_count.load() - 1);
                  const std::uint64_t payload = 0;
                  const write_result result = plain(
                      write_record_shared(*slot, slot->serial.load(), 0, {0, 8, &payload, {}}));
                  ears.finish();
                  return ring->backed != 0 && result == write_result::written &&
                                 ears.records().size() == 2
                             ? 0
                             : 3;
              }),
              0);
}

TEST(shared_ring, is_reserved_whole_by_a_program_without_sequences_when_it_attaches) {
    if (!can_populate()) {
        GTEST_SKIP() << "here the shared ring has its memory before anybody writes there";
    }
    EXPECT_EQ(in_child([] {
                  configure_rseq(false);
                  listener ears("ring_test:*", {buffer_size, buffers_per_cpu});
                  ring_test::emit(tick{0});
                  subscription_slot* slot = slot_of(ears);
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

/// A program joins a subscription while somebody holds the shared ring's lock: it has reserved that
/// ring, and waits to say so. Only then `meanwhile` is called, with the subscription.
class late_joiner {
  public:
    late_joiner() {
        configure_rseq(false);
        ears_.emplace("ring_test:*", listener::options{buffer_size, buffers_per_cpu});
    }

    /// Returns false if the file could not be written.
    template <class Meanwhile>
    bool join(Meanwhile meanwhile) {
        const std::uint64_t before = memory();
        bool is_set = set_lock(ears_->source().header().owner_pid_namespace << 32U |
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
        meanwhile(*ears_);
        is_set = set_lock(0) && is_set;
        enough = true;
        joining.join();
        return is_set;
    }

    void release() { release_memory(ears_->source().file(), ears_->source().geometry()); }

    [[nodiscard]] std::uint64_t memory() {
        struct stat status {};
        static_cast<void>(::fstat(ears_->source().file().get(), &status));
        return static_cast<std::uint64_t>(status.st_blocks) * 512;
    }

  private:
    bool set_lock(std::uint64_t holder) {
        const region_geometry& geometry = ears_->source().geometry();
        return ::pwrite(ears_->source().file().get(), &holder, sizeof holder,
                        static_cast<off_t>(geometry.ring_offset(geometry.ring_count - 1) +
                                           offsetof(eventlog_ring, lock))) ==
               static_cast<ssize_t>(sizeof holder);
    }

    std::optional<listener> ears_;
};

void remove_subscriptions() {
    std::filesystem::remove_all(eventlog::test::eventlog_directory() + "/subscriptions");
}

TEST(shared_ring, leaves_no_memory_to_a_program_that_was_joining_when_it_was_removed) {
    if (!can_populate()) {
        GTEST_SKIP() << "here the shared ring has its memory before anybody writes there";
    }
    EXPECT_EQ(in_child([] {
                  late_joiner late;
                  if (!late.join([](listener& ears) {
                          ears.source().end();
                          remove_subscriptions();
                      })) {
                      return 1;
                  }
                  // As the consumer does once it has ended, before or after the other.
                  late.release();
                  return late.memory() < buffer_size ? 0 : 2;
              }),
              0);
}

TEST(shared_ring, keeps_its_memory_when_a_cleaner_of_directories_takes_its_name_alone) {
    if (!can_populate()) {
        GTEST_SKIP() << "here the shared ring has its memory before anybody writes there";
    }
    EXPECT_EQ(in_child([] {
                  late_joiner late;
                  const std::uint64_t before = late.memory();
                  if (!late.join([](listener&) { remove_subscriptions(); })) {
                      return 1;
                  }
                  return late.memory() >= before ? 0 : 2;
              }),
              0);
}

TEST(shared_ring, is_not_believed_to_have_memory_where_any_advice_is_taken) {
    if (!can_populate() || !rseq_available()) {
        GTEST_SKIP() << "here the shared ring has its memory before anybody writes there";
    }
    EXPECT_EQ(in_child([] {
                  listener ears("ring_test:*", {buffer_size, buffers_per_cpu});
                  if (!answer_call(SYS_madvise, 0)) {
                      return 1;
                  }
                  ring_test::emit(tick{0});  // attaches
                  subscription_slot* slot = slot_of(ears);
                  if (!is_shared_ring_lazy(ears.source().header()) || slot == nullptr) {
                      return 2;
                  }
                  const std::uint64_t payload = 0;
                  const write_result result = plain(
                      write_record_shared(*slot, slot->serial.load(), 0, {0, 8, &payload, {}}));
                  return result == write_result::lost_no_memory ? 0 : 3;
              }),
              0);
}

TEST(populate, is_not_believed_where_any_advice_is_taken) {
    EXPECT_EQ(in_child([] { return answer_call(SYS_madvise, 0) && !can_populate() ? 0 : 1; }), 0);
}

TEST(populate, gives_up_where_it_is_interrupted_for_ever) {
    EXPECT_EQ(in_child([] {
                  void* mapped = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
                  if (mapped == MAP_FAILED || !answer_call(SYS_madvise, EINTR)) {
                      return 1;
                  }
                  return populate(mapped, 4096) ? 2 : 0;
              }),
              0);
}

TEST(populate, gives_pages_memory_and_leaves_what_is_in_them_alone) {
    if (!can_populate()) {
        GTEST_SKIP() << "the kernel is older than Linux 5.14";
    }
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* mapped =
        ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    *static_cast<char*>(mapped) = 'x';
    EXPECT_TRUE(populate(mapped, 2 * page));
    std::vector<unsigned char> resident(2);
    EXPECT_EQ(::mincore(mapped, 2 * page, resident.data()), 0);
    EXPECT_EQ(resident[1] & 1U, 1U);
    EXPECT_EQ(*static_cast<char*>(mapped), 'x');
    ASSERT_EQ(::munmap(mapped, 2 * page), 0);
    errno = 0;
    EXPECT_FALSE(populate(mapped, 2 * page));
    EXPECT_EQ(errno, 0);
}

}  // namespace
