// SPDX-License-Identifier: MIT
//
// The rules of the ring, for both writers: with restartable sequences, or the lock where there are
// none, and with the lock always.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "base/user_error.hpp"
#include "listener.hpp"
#include "ring/ring_writer.hpp"
#include "ring/rseq.hpp"
#include "ring/subscription_slots.hpp"
#include "ring_fixture.hpp"
#include "syscall_override.hpp"
#include "two_event_provider.hpp"

namespace {

using namespace eventlog::core;
using eventlog::test::event_listener;
using eventlog::test::plain;
using eventlog::test::received_record;
using eventlog::test::ring_test;
using eventlog::test::ring_writer_param;
using eventlog::test::slot_of;
using eventlog::test::tick;

class ring : public eventlog::test::ring_fixture {
  protected:
    write_result write(std::size_t size, std::uint8_t filling) {
        static std::array<std::uint8_t, payload_size_max + 8> payload;
        std::memset(payload.data(), filling, size);
        std::memset(payload.data() + size, 0, 8);
        return plain(GetParam().write(*slot, mapping, eventlog::test::first_provider,
                                      {0, size, payload.data(), {}}));
    }
};

constexpr std::size_t buffer_size = 128U << 10U;
// Of payloads over 255 bytes.
constexpr std::size_t header_size = EVENTLOG_EXTENDED_HEADER_SIZE;

TEST_P(ring, a_record_that_fills_the_buffer_exactly_fits) {
    start_listener({buffer_size, 2});
    const control_word control{shared(slot->ring(written_ring())->control).load()};
    // A shared ring may not have begun.
    std::size_t left = buffer_size - (control.is_sealed() ? 0 : control.position());
    while (left > EVENTLOG_RECORD_SIZE_MAX) {
        ASSERT_EQ(write(1000, 1), write_result::written);
        left -= header_size + 1000;
    }
    ASSERT_EQ(write(left - header_size, 2), write_result::written);
    ASSERT_EQ(write(8, 3), write_result::written);  // the next buffer
    listener->finish();
    ASSERT_GE(listener->records().size(), 3U);
    const received_record& exact = listener->records()[listener->records().size() - 2];
    EXPECT_EQ(exact.payload, std::vector<std::uint8_t>(left - header_size, 2));
    EXPECT_EQ(listener->records().back().payload, std::vector<std::uint8_t>(8, 3));
    EXPECT_EQ(listener->totals().lost, 0U);
}

TEST_P(ring, full_counts_drop_and_reports_gap_in_place) {
    start_listener({buffer_size, 2});
    std::uint64_t written = 0;
    while (write(1000, 1) == write_result::written) {
        ++written;
        ASSERT_LT(written, 1000U);
    }
    // One event was lost; 9 more, even small ones, until the reader frees a buffer.
    for (int i = 0; i < 9; ++i) {
        EXPECT_EQ(write(8, 2), write_result::lost_full);
    }
    listener->poll();
    EXPECT_EQ(listener->records().size(), written);
    EXPECT_EQ(listener->totals().lost, 0U);  // the number of losses is not known yet
    EXPECT_EQ(write(8, 3), write_result::written);
    listener->poll();
    ASSERT_EQ(listener->records().size(), written + 1);
    EXPECT_EQ(listener->records().back().lost_before, 10U);
    EXPECT_EQ(listener->records().back().payload, std::vector<std::uint8_t>(8, 3));
    listener->finish();
    EXPECT_EQ(listener->totals().lost, 10U);
}

TEST_P(ring, loss_at_end_is_reported_at_end) {
    start_listener({buffer_size, 2});
    std::uint64_t written = 0;
    while (write(1000, 1) == write_result::written) {
        ++written;
    }
    EXPECT_EQ(write(1000, 1), write_result::lost_full);
    listener->source().end();
    listener->poll();
    EXPECT_EQ(listener->records().size(), written);
    std::uint64_t trailing = 0;
    for (const std::uint64_t lost : listener->reader().finish()) {
        trailing += lost;
    }
    EXPECT_EQ(trailing, 2U);
}

TEST_P(ring, sequence_numbers_count_all_attempts) {
    for (const std::uint32_t buffers : {2U, 4U, 64U}) {
        start_listener({buffer_size, buffers});
        std::uint64_t attempted = contains_attaching_event() ? 1 : 0;
        for (int round = 0; round < 3; ++round) {
            for (unsigned i = 0; i < buffers * 140; ++i) {
                static_cast<void>(write(1000, 1));
                ++attempted;
            }
            listener->poll();
        }
        static_cast<void>(write(8, 9));
        listener->poll();
        const received_record& last = listener->records().back();
        EXPECT_EQ(last.sequence, attempted);
        EXPECT_GT(listener->totals().lost, 0U);
        std::uint64_t expected = listener->records().front().sequence;
        for (const received_record& record : listener->records()) {
            expected += record.lost_before;
            EXPECT_EQ(record.sequence, expected);
            ++expected;
        }
        listener.reset();
    }
}

TEST_P(ring, many_generations_are_intact_and_in_order) {
    start_listener({buffer_size, 2});
    std::uint64_t time = 0;
    for (unsigned i = 0; i < 50000; ++i) {
        ASSERT_EQ(write(1 + i % 2000, static_cast<std::uint8_t>(i)), write_result::written);
        if (i % 40 == 0) {
            listener->poll();
        }
    }
    listener->finish();
    ASSERT_EQ(listener->records().size(), 50000U);
    for (unsigned i = 0; i < 50000; ++i) {
        const received_record& record = listener->records()[i];
        ASSERT_EQ(record.payload,
                  std::vector<std::uint8_t>(1 + i % 2000, static_cast<std::uint8_t>(i)));
        ASSERT_GE(record.header.time, time);
        time = record.header.time;
    }
}

TEST_P(ring, pieces_form_one_payload) {
    start_listener({buffer_size, 2});
    const std::array<eventlog_part, 4> pieces{{{"ab", 2}, {"", 0}, {"cdefghi", 7}, {"", 1}}};
    ASSERT_EQ(plain(GetParam().write(*slot, mapping, eventlog::test::first_provider,
                                     {0, 10, nullptr, pieces})),
              write_result::written);
    ASSERT_EQ(write(8, 7), write_result::written);
    listener->finish();
    ASSERT_EQ(listener->records().size(), 2U);
    const std::string_view expected("abcdefghi\0", 10);
    EXPECT_EQ(listener->records()[0].payload,
              std::vector<std::uint8_t>(expected.begin(), expected.end()));
}

TEST_P(ring, rejects_writes_for_ended_subscription) {
    start_listener({buffer_size, 2});
    listener->source().end();
    EXPECT_EQ(write(8, 1), write_result::stale);
}

TEST_P(ring, rejects_writes_for_other_subscription_in_slot) {
    start_listener({buffer_size, 2});
    const std::uint64_t before = mapping;
    start_listener({buffer_size, 2});
    mapping = before;
    EXPECT_EQ(write(8, 1), write_result::stale);
    listener->finish();
    EXPECT_TRUE(listener->records().empty());
}

INSTANTIATE_TEST_SUITE_P(writers, ring, ::testing::ValuesIn(eventlog::test::ring_writers),
                         eventlog::test::ring_writer_name);

TEST(shared_ring, recovers_lock_of_dead_thread) {
    event_listener listener("ring_test:*");
    ring_test::emit(tick{0});
    subscription_slot* slot = slot_of(listener);
    ASSERT_NE(slot, nullptr);
    const std::uint64_t mapping = slot->mapping.load();
    const std::uint64_t payload = 0;
    eventlog_ring* ring = slot->ring(slot->ring_count.load() - 1);
    ASSERT_EQ(plain(write_record_shared(*slot, mapping, eventlog::test::first_provider,
                                        {0, 8, &payload, {}})),
              write_result::written);
    const std::uint64_t free = shared(ring->lock).load();
    EXPECT_EQ(free, 0U);
    // As after a thread was killed: a thread number without a thread.
    const std::uint64_t pid_namespace =
        static_cast<std::uint32_t>(listener.source().header().owner_pid_namespace);
    shared(ring->lock).store(pid_namespace << 32U | 0x7ffffff0U);
    errno = 0;
    EXPECT_EQ(plain(write_record_shared(*slot, mapping, eventlog::test::first_provider,
                                        {0, 8, &payload, {}})),
              write_result::written);
    EXPECT_EQ(errno, 0);
    EXPECT_EQ(shared(ring->lock).load(), 0U);
    // As after a process was killed that has not been reaped.
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::_exit(0);
    }
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
    shared(ring->lock).store(pid_namespace << 32U | static_cast<std::uint32_t>(child));
    EXPECT_EQ(plain(write_record_shared(*slot, mapping, eventlog::test::first_provider,
                                        {0, 8, &payload, {}})),
              write_result::written);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST(shared_ring, lock_held_by_stalled_thread_costs_one_timeout) {
    const eventlog::test::pinned_to_one_cpu pinned;
    event_listener listener("ring_test:*");
    ring_test::emit(tick{0});
    subscription_slot* slot = slot_of(listener);
    ASSERT_NE(slot, nullptr);
    eventlog_ring* ring = slot->ring(slot->ring_count.load() - 1);
    // The lock belongs to a live process that never releases it, such as the parent.
    shared(ring->lock)
        .store(listener.source().header().owner_pid_namespace << 32U |
               static_cast<std::uint32_t>(::getppid()));
    // Yielding to a thread that uses its full time slices takes milliseconds.
    std::atomic<bool> stop{false};
    std::thread busy([&stop] {
        while (!stop) {
        }
    });
    const std::uint64_t payload = 0;
    const auto write = [&] {
        return plain(write_record_shared(*slot, slot->mapping.load(),
                                         eventlog::test::first_provider, {0, 8, &payload, {}}));
    };
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(write(), write_result::lost_busy);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
    stop = true;
    busy.join();
    shared(ring->lock).store(0);
    EXPECT_EQ(write(), write_result::written);
    EXPECT_EQ(slot->unresponsive_holder.load(), 0U);
}

/// The shared ring of a subscription. Another thread holds its lock until the end.
struct ring_in_use {
    explicit ring_in_use(std::uint64_t holder) {
        ring_test::emit(tick{0});
        slot = slot_of(listener);
        hold(holder);
    }
    ~ring_in_use() { hold(0); }
    ring_in_use(const ring_in_use&) = delete;
    ring_in_use& operator=(const ring_in_use&) = delete;

    void hold(std::uint64_t holder) const {
        shared(slot->ring(slot->ring_count.load() - 1)->lock).store(holder);
    }
    [[nodiscard]] write_result write() const {
        const std::uint64_t payload = 0;
        return plain(write_record_shared(*slot, slot->mapping.load(),
                                         eventlog::test::first_provider, {0, 8, &payload, {}}));
    }

    event_listener listener{"ring_test:*"};
    subscription_slot* slot = nullptr;
};

// Threads of another pid namespace, whose end cannot be seen here.
constexpr std::uint64_t somewhere = 1ULL << 32U;

TEST(shared_ring, lock_held_by_stalled_thread_costs_few_system_calls) {
    eventlog::test::check_in_child([] {
        const ring_in_use ring(somewhere | 1U);
        std::atomic<int> yields{0};
        ASSERT_TRUE(eventlog::test::watch_syscall(SYS_sched_yield, [&] { ++yields; }));
        EXPECT_EQ(ring.write(), write_result::lost_busy);
        // A wait that only yields makes more than a thousand.
        EXPECT_LE(yields, 50);
    });
}

TEST(shared_ring, lock_that_changes_hands_has_no_unresponsive_holder) {
    const ring_in_use ring(somewhere | 1U);
    std::atomic<bool> stop{false};
    std::thread others([&] {
        for (std::uint32_t thread = 2; !stop; ++thread) {
            ring.hold(somewhere | thread);
            std::this_thread::sleep_for(std::chrono::microseconds(10));
        }
    });
    EXPECT_EQ(ring.write(), write_result::lost_busy);
    EXPECT_EQ(ring.slot->unresponsive_holder.load(), 0U);
    stop = true;
    others.join();
}

TEST(shared_ring, lock_held_forever_does_not_block_next_subscription) {
    event_listener listener("ring_test:*");
    ring_test::emit(tick{0});
    subscription_slot* slot = slot_of(listener);
    ASSERT_NE(slot, nullptr);
    eventlog_ring* ring = slot->ring(slot->ring_count.load() - 1);
    shared(ring->lock)
        .store(listener.source().header().owner_pid_namespace << 32U |
               static_cast<std::uint32_t>(::getppid()));
    listener.source().end();
    const std::uint64_t payload = 0;
    EXPECT_EQ(write_record_shared(*slot, slot->mapping.load(), eventlog::test::first_provider,
                                  {0, 8, &payload, {}}),
              write_result::stale);
}

TEST(shared_ring, lock_recovery_is_no_cancellation_point) {
    event_listener listener("ring_test:*");
    ring_test::emit(tick{0});
    subscription_slot* slot = slot_of(listener);
    ASSERT_NE(slot, nullptr);
    eventlog_ring* ring = slot->ring(slot->ring_count.load() - 1);
    shared(ring->lock).store(listener.source().header().owner_pid_namespace << 32U | 0x7ffffff0U);
    struct job {
        subscription_slot& slot;
        std::optional<write_result> result;
    } work{*slot, {}};
    pthread_t thread{};
    const auto run = [](void* argument) -> void* {
        auto* const here = static_cast<job*>(argument);
        ::pthread_cancel(::pthread_self());
        const std::uint64_t payload = 0;
        here->result =
            plain(write_record_shared(here->slot, here->slot.mapping.load(),
                                      eventlog::test::first_provider, {0, 8, &payload, {}}));
        return nullptr;
    };
    ASSERT_EQ(::pthread_create(&thread, nullptr, run, &work), 0);
    ASSERT_EQ(::pthread_join(thread, nullptr), 0);
    EXPECT_EQ(work.result, write_result::written);
    EXPECT_TRUE(slot->users.is_zero());
}

TEST(shared_ring, lock_held_by_same_thread_fails_immediately) {
    // The view of a signal handler that interrupted the holder.
    event_listener listener("ring_test:*");
    ring_test::emit(tick{0});
    subscription_slot* slot = slot_of(listener);
    ASSERT_NE(slot, nullptr);
    eventlog_ring* ring = slot->ring(slot->ring_count.load() - 1);
    const std::uint64_t pid_namespace =
        static_cast<std::uint32_t>(listener.source().header().owner_pid_namespace);
    shared(ring->lock).store(pid_namespace << 32U | static_cast<std::uint32_t>(::gettid()));
    const std::uint64_t payload = 0;
    EXPECT_EQ(write_record_shared(*slot, slot->mapping.load(), eventlog::test::first_provider,
                                  {0, 8, &payload, {}}),
              write_result::lost_busy);
    shared(ring->lock).store(0);
}

}  // namespace
