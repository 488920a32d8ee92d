// SPDX-License-Identifier: MIT
//
// The first writer allocates a buffer of the shared ring. Without memory, events are lost and
// counted.
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
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/cpus.hpp"
#include "listener.hpp"
#include "platform/populate.hpp"
#include "ring/ring_writer.hpp"
#include "ring/rseq.hpp"
#include "ring/subscription_slots.hpp"
#include "ring_fixture.hpp"
#include "run_in_child.hpp"
#include "shm/subscription_file.hpp"
#include "syscall_override.hpp"

namespace {

using namespace eventlog::core;
using eventlog::test::deny_syscall;
using eventlog::test::event_listener;
using eventlog::test::plain;
using eventlog::test::ring_test;
using eventlog::test::run_in_child;
using eventlog::test::slot_of;
using eventlog::test::tick;

constexpr std::uint64_t buffer_size = 1U << 20U;
constexpr std::uint32_t buffers_per_cpu = 2;
constexpr std::size_t record_payload = 60000;

/// A subscription in either mode. The event that attaches the provider is in the ring of a CPU.
class lazy_shared_ring : public ::testing::TestWithParam<bool> {
  protected:
    void SetUp() override {
        if (!can_populate() || !rseq_available()) {
            GTEST_SKIP() << "the shared ring is preallocated here";
        }
        ring_test::emit(tick{0});
        slot = slot_of(listener);
        ASSERT_NE(slot, nullptr);
        listener.poll();
        listener.clear_records();
    }

    write_result write(std::size_t size = record_payload) {
        static const std::vector<std::uint8_t> payload(record_payload + 8);
        return plain(write_record_shared(*slot, slot->mapping.load(),
                                         eventlog::test::first_provider,
                                         {0, size, payload.data(), {}}));
    }

    [[nodiscard]] std::uint64_t memory() {
        struct stat status {};
        EXPECT_EQ(::fstat(listener.source().file().get(), &status), 0);
        return static_cast<std::uint64_t>(status.st_blocks) * 512;
    }

    /// A read-only mapping gets no memory, as if memory were exhausted.
    void forbid(std::uint32_t buffer, bool forbidden = true) {
        ASSERT_EQ(::mprotect(slot->buffers(shared_ring()) + buffer * buffer_size, buffer_size,
                             forbidden ? PROT_READ : PROT_READ | PROT_WRITE),
                  0);
        slot->allocation_not_before.store(0);
    }

    [[nodiscard]] std::uint32_t shared_ring() const { return slot->ring_count.load() - 1; }

    event_listener listener{"ring_test:*", {buffer_size, buffers_per_cpu, GetParam()}};
    subscription_slot* slot = nullptr;
};

TEST_P(lazy_shared_ring, allocates_nothing_without_writers) {
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

TEST_P(lazy_shared_ring, allocates_buffer_by_buffer_without_loss) {
    const std::uint64_t before = memory();
    errno = 0;
    ASSERT_EQ(write(), write_result::written);
    EXPECT_EQ(errno, 0);
    EXPECT_EQ(memory(), before + buffer_size);
    std::uint64_t written = 1;
    // Through all buffers, and once more.
    for (; written < 3 * buffer_size * buffers_per_cpu / record_payload; ++written) {
        ASSERT_EQ(write(), write_result::written) << written;
        listener.poll();
    }
    EXPECT_EQ(memory(), before + buffers_per_cpu * buffer_size);
    listener.finish();
    ASSERT_EQ(listener.records().size(), written);
    EXPECT_EQ(listener.records().front().ring, shared_ring());
    EXPECT_EQ(listener.records().front().sequence, 0U);
    EXPECT_EQ(listener.totals().lost, 0U);
}

TEST_P(lazy_shared_ring, reports_loss_before_first_record_without_memory) {
    forbid(0);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(write(8), write_result::lost_no_memory);
        listener.poll();
    }
    EXPECT_TRUE(listener.records().empty());
    forbid(0, false);
    ASSERT_EQ(write(8), write_result::written);
    listener.poll();
    ASSERT_EQ(listener.records().size(), 1U);
    EXPECT_EQ(listener.records().front().lost_before, 3U);
    EXPECT_EQ(listener.records().front().sequence, 3U);
    listener.finish();
    EXPECT_EQ(listener.totals().lost, 3U);
}

TEST_P(lazy_shared_ring, reports_gap_in_place_without_memory_for_next_buffer) {
    forbid(1);
    std::uint64_t written = 0;
    while (write() == write_result::written) {
        ++written;
        ASSERT_LT(written, 100U);
    }
    // One event was lost; even small ones are lost until there is memory: the gap lies between two
    // buffers.
    EXPECT_EQ(write(8), write_result::lost_no_memory);
    listener.poll();
    EXPECT_EQ(listener.records().size(), written);
    forbid(1, false);
    ASSERT_EQ(write(8), write_result::written);
    listener.poll();
    ASSERT_EQ(listener.records().size(), written + 1);
    EXPECT_EQ(listener.records().back().lost_before, 2U);
    EXPECT_EQ(listener.records().back().sequence, written + 2);
    listener.finish();
    EXPECT_EQ(listener.totals().lost, 2U);
}

TEST_P(lazy_shared_ring, reports_losses_at_end_if_never_allocated) {
    forbid(0);
    EXPECT_EQ(write(8), write_result::lost_no_memory);
    EXPECT_EQ(write(8), write_result::lost_no_memory);
    listener.finish();
    EXPECT_TRUE(listener.records().empty());
    EXPECT_EQ(listener.totals().lost, 2U);
}

TEST_P(lazy_shared_ring, delays_allocation_retry) {
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

TEST_P(lazy_shared_ring, frees_partial_allocation) {
    const std::uint64_t before = memory();
    unsigned char* const second_half = slot->buffers(shared_ring()) + buffer_size / 2;
    ASSERT_EQ(::mprotect(second_half, buffer_size / 2, PROT_READ), 0);
    EXPECT_EQ(write(8), write_result::lost_no_memory);
    EXPECT_EQ(memory(), before);
    ASSERT_EQ(::mprotect(second_half, buffer_size / 2, PROT_READ | PROT_WRITE), 0);
    slot->allocation_not_before.store(0);
    EXPECT_EQ(write(8), write_result::written);
    listener.finish();
    ASSERT_EQ(listener.records().size(), 1U);
    EXPECT_EQ(listener.records().front().lost_before, 1U);
}

TEST_P(lazy_shared_ring, is_shared_with_writers_that_cannot_allocate) {
    const elog::subscription& source = listener.source();
    ASSERT_EQ(
        ::posix_fallocate(source.file().get(),
                          static_cast<off_t>(source.geometry().buffer_offset(shared_ring(), 0)),
                          static_cast<off_t>(buffers_per_cpu * buffer_size)),
        0);
    shared(slot->ring(shared_ring())->reserved_buffers).store(buffers_per_cpu);
    EXPECT_EQ(run_in_child([&] {
                  if (!deny_syscall(SYS_madvise)) {
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

TEST_P(lazy_shared_ring, initialization_is_taken_over_from_dead_thread) {
    eventlog_ring* ring = slot->ring(shared_ring());
    const std::uint64_t pid_namespace = listener.source().header().owner_pid_namespace;
    // An unused thread number: the dead thread may have allocated memory or not, and counted losses
    // or not.
    shared(ring->lock).store(pid_namespace << 32U | 0x7ffffff0U);
    ASSERT_TRUE(populate(slot->buffers(shared_ring()), buffer_size / 2));
    shared(descriptors_of(ring)->lost_before).store(7);
    ASSERT_EQ(write(8), write_result::written);
    listener.finish();
    ASSERT_EQ(listener.records().size(), 1U);
    EXPECT_EQ(listener.records().front().sequence, 0U);
    EXPECT_EQ(listener.totals().lost, 0U);
}

TEST_P(lazy_shared_ring, is_freed_at_end_unless_live_thread_holds_lock) {
    ASSERT_EQ(write(8), write_result::written);
    eventlog_ring* ring = slot->ring(shared_ring());
    const std::uint64_t pid_namespace = listener.source().header().owner_pid_namespace;
    listener.finish();
    shared(ring->lock).store(pid_namespace << 32U | static_cast<std::uint64_t>(::gettid()));
    release_memory(listener.source().file(), listener.source().geometry());
    const std::uint64_t held = memory();
    EXPECT_GE(held, buffer_size);
    // An unused thread number.
    shared(ring->lock).store(pid_namespace << 32U | 0x7ffffff0U);
    release_memory(listener.source().file(), listener.source().geometry());
    EXPECT_EQ(memory(), held - buffer_size);
    shared(ring->lock).store(0);
}

TEST_P(lazy_shared_ring, is_initialized_once_by_concurrent_threads) {
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
    listener.finish();
    EXPECT_GE(written, 1U);
    EXPECT_EQ(listener.records().size(), written);
    EXPECT_EQ(written + busy, static_cast<std::uint64_t>(threads));
}

TEST_P(lazy_shared_ring, in_restrictive_sandbox_counts_losses_and_does_not_block_writers) {
    EXPECT_EQ(run_in_child([&] {
                  if (!deny_syscall(SYS_madvise)) {
                      return 1;
                  }
                  return write(8) == write_result::lost_no_memory ? 0 : 2;
              }),
              0);
    ASSERT_EQ(write(8), write_result::written);
    listener.finish();
    ASSERT_EQ(listener.records().size(), 1U);
    EXPECT_EQ(listener.records().front().lost_before, 1U);
}

#if defined(__x86_64__) && defined(RSEQ_SIG)

/// Unregisters the restartable sequences of the calling thread.
bool disable_rseq() {
    constexpr unsigned size = 32;  // as registered by glibc
    auto* const area = static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset;
    return ::syscall(SYS_rseq, area, size, RSEQ_FLAG_UNREGISTER, RSEQ_SIG) == 0;
}

TEST_P(lazy_shared_ring, receives_events_of_thread_without_rseq) {
    const std::uint64_t before = memory();
    bool has_none = false;
    std::thread thread([&has_none] {
        has_none = disable_rseq();
        for (std::uint64_t i = 0; has_none && i < 1000; ++i) {
            ring_test::emit(tick{i});
        }
    });
    thread.join();
    if (!has_none) {
        GTEST_SKIP() << "this C library has registered them in another way";
    }
    EXPECT_EQ(memory(), before + buffer_size);
    listener.finish();
    EXPECT_EQ(listener.totals().lost + listener.lost_by_providers(), 0U);
    ASSERT_EQ(listener.records().size(), 1000U);
    for (std::uint64_t i = 0; i < 1000; ++i) {
        EXPECT_EQ(listener.records()[i].ring, shared_ring());
        EXPECT_EQ(listener.records()[i].sequence, i);
    }
}

#endif

INSTANTIATE_TEST_SUITE_P(modes, lazy_shared_ring, ::testing::Bool(), [](const auto& each) {
    return std::string(each.param ? "overwrite" : "discard");
});

}  // namespace
