// SPDX-License-Identifier: MIT
//
// The writes of a per-thread batch, and the events that it cannot write.
#include "kernel/batch.hpp"

#include <fcntl.h>
#include <linux/eventlog_device.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/kernel_batch.hpp>

#include "fake_kernel_file.hpp"
#include "ring/clock.hpp"

namespace {

using namespace eventlog::core;
using fake_kernel::bare;
using fake_kernel::number;
using fake_kernel::plain;
using fake_kernel::wordy;

struct entry {
    std::uint32_t index = 0;
    std::uint64_t time = 0;
    std::string payload{};
};

/// The entries of a batch; none if the bytes are no batch.
std::vector<entry> entries_of(const std::string& batch) {
    std::vector<entry> found;
    if (batch.size() < 8 || std::memcmp(batch.data(), &batch_header, sizeof batch_header) != 0) {
        return found;
    }
    for (std::size_t at = sizeof batch_header; at < batch.size();) {
        eventlog_timed_entry head{};
        std::memcpy(&head, batch.data() + at, sizeof head);
        const std::size_t end = at + sizeof head + head.size;
        found.push_back({head.write_index, head.time, batch.substr(at + sizeof head, head.size)});
        const std::size_t next = (end + 7) / 8 * 8;
        EXPECT_EQ(batch.substr(end, next - end), std::string(next - end, '\0'));
        at = next;
    }
    return found;
}

class per_thread_batch : public fake_kernel::fake_kernel_file {
  protected:
    void SetUp() override {
        fake_kernel_file::SetUp();
        route().takes_batches = true;
    }
    void TearDown() override {
        eventlog_kernel_batch_end();
        route().takes_batches = false;
        fake_kernel_file::TearDown();
    }

    bool begin(std::size_t size) { return eventlog_kernel_batch_begin(room.data(), size); }
    void emit(std::string_view payload) {
        // eventlog_emit_raw requires zero bytes after the payload.
        const std::string padded = std::string(payload) + std::string(8, '\0');
        eventlog_emit_raw(&handle(), plain, padded.data(), payload.size());
    }

    alignas(8) std::array<std::uint8_t, 1U << 17U> room{};
};

TEST_F(per_thread_batch, writes_collected_events_in_one_call) {
    ASSERT_TRUE(begin(room.size()));
    const std::uint64_t before = read_clock(EVENTLOG_CLOCK_MONOTONIC);
    provider.emit(plain, 77U);
    provider.emit(wordy, "some", "words");
    provider.emit(bare);
    const std::uint64_t after = read_clock(EVENTLOG_CLOCK_MONOTONIC);
    EXPECT_EQ(next_write(), "");
    EXPECT_EQ(counters().written, 0U);
    eventlog_kernel_batch_flush();
    const std::vector<entry> found = entries_of(next_write());
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].index, number);
    EXPECT_EQ(found[0].payload, fake_kernel::bytes_of(77U));
    EXPECT_NE(found[1].payload.find("some"), std::string::npos);
    EXPECT_NE(found[1].payload.find("words"), std::string::npos);
    EXPECT_EQ(found[2].payload, "");
    EXPECT_LE(before, found[0].time);
    EXPECT_LE(found[0].time, found[2].time);
    EXPECT_LE(found[2].time, after);
    EXPECT_EQ(counters().written, 3U);
    eventlog_kernel_batch_flush();
    EXPECT_EQ(next_write(), "");
}

TEST_F(per_thread_batch, separates_payloads_of_any_size) {
    ASSERT_TRUE(begin(room.size()));
    std::vector<std::string> payloads;
    for (const std::size_t size : {0U, 1U, 7U, 8U, 9U, 255U, 256U, 257U, 4048U}) {
        payloads.emplace_back(size, static_cast<char>('a' + size % 26));
        emit(payloads.back());
    }
    eventlog_kernel_batch_flush();
    std::vector<std::string> found;
    for (const entry& each : entries_of(next_write())) {
        found.push_back(each.payload);
    }
    EXPECT_EQ(found, payloads);
}

TEST_F(per_thread_batch, is_flushed_when_full) {
    for (const std::size_t size : {512U, 513U, 700U, 4096U, 65536U, 1U << 17U}) {
        ASSERT_TRUE(begin(size)) << size;
        std::string batch;
        std::uint32_t emitted = 0;
        for (; batch.empty() && emitted < 10'000; ++emitted) {
            provider.emit(plain, emitted);
            batch = next_write();
        }
        EXPECT_LE(batch.size(), std::min<std::size_t>(size, 65536)) << size;
        EXPECT_EQ(entries_of(batch).size(), emitted - 1) << size;
        eventlog_kernel_batch_end();
        const std::vector<entry> rest = entries_of(next_write());
        ASSERT_EQ(rest.size(), 1U) << size;
        EXPECT_EQ(rest[0].payload, fake_kernel::bytes_of(emitted - 1)) << size;
    }
}

TEST_F(per_thread_batch, is_flushed_before_oversized_event) {
    ASSERT_TRUE(begin(1024));
    emit("before");
    emit(std::string(2000, 'x'));
    emit("after");
    eventlog_kernel_batch_end();
    EXPECT_EQ(entries_of(next_write()).at(0).payload, "before");
    EXPECT_EQ(next_write(), std::string("\5\0\0\0", 4) + std::string(2000, 'x'));
    EXPECT_EQ(entries_of(next_write()).at(0).payload, "after");
    EXPECT_EQ(counters().written, 3U);
}

TEST_F(per_thread_batch, accepts_unaligned_buffer) {
    for (std::size_t offset = 0; offset < 16; ++offset) {
        ASSERT_TRUE(eventlog_kernel_batch_begin(room.data() + offset, 1000));
        emit("some");
        eventlog_kernel_batch_end();
        EXPECT_EQ(entries_of(next_write()).size(), 1U);
    }
}

TEST_F(per_thread_batch, begins_once_and_requires_space) {
    EXPECT_FALSE(eventlog_kernel_batch_begin(nullptr, 4096));
    for (const std::size_t size : {0U, 1U, 8U, 63U, 300U}) {
        EXPECT_FALSE(begin(size)) << size;
    }
    ASSERT_TRUE(begin(4096));
    EXPECT_FALSE(eventlog_kernel_batch_begin(room.data() + 8192, 4096));
    eventlog_kernel_batch_end();
    EXPECT_TRUE(begin(4096));
}

TEST_F(per_thread_batch, is_per_thread) {
    ASSERT_TRUE(begin(4096));
    std::thread([&] { emit("another"); }).join();
    EXPECT_EQ(next_write(), std::string("\5\0\0\0", 4) + "another");
}

TEST_F(per_thread_batch, bypasses_routes_with_single_event_writes) {
    route().takes_batches = false;
    ASSERT_TRUE(begin(4096));
    emit("single");
    EXPECT_EQ(next_write(), std::string("\5\0\0\0", 4) + "single");
}

TEST_F(per_thread_batch, counts_rejected_events) {
    ASSERT_TRUE(begin(4096));
    emit("one");
    emit("two");
    unique_fd unwritable(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(unwritable);
    const int place = route().file.load();
    ASSERT_EQ(::dup3(unwritable.get(), place, O_CLOEXEC), place);
    fake_kernel::set_route_file(route(), place);
    eventlog_kernel_batch_flush();
    EXPECT_EQ(counters().lost_refused, 2U);
    EXPECT_EQ(counters().written, 0U);
}

TEST_F(per_thread_batch, counts_events_with_closed_descriptor) {
    ASSERT_TRUE(begin(4096));
    emit("one");
    route().generation.fetch_add(1);
    eventlog_kernel_batch_flush();
    EXPECT_EQ(next_write(), "");
    EXPECT_EQ(counters().lost_unattached, 1U);
    emit("two");
    eventlog_kernel_batch_flush();
    EXPECT_EQ(entries_of(next_write()).size(), 1U);
}

TEST_F(per_thread_batch, ignores_unregistered_event) {
    ASSERT_TRUE(begin(4096));
    for (const std::uint32_t unknown :
         {user_events_route::not_registrable, user_events_route::not_registered}) {
        route().numbers[plain] = unknown;
        emit("unknown");
    }
    route().numbers[plain] = number + 1;
    eventlog_kernel_batch_flush();
    EXPECT_EQ(next_write(), "");
    EXPECT_EQ(counters().written, 0U);
}

TEST_F(per_thread_batch, is_bypassed_by_interrupting_signal_handler) {
    ASSERT_TRUE(begin(4096));
    emit("first");
    current_batch->busy = true;
    emit("second");
    EXPECT_EQ(next_write(), std::string("\5\0\0\0", 4) + "second");
    eventlog_kernel_batch_flush();
    EXPECT_EQ(next_write(), "");
    // The batch stays busy, as if the interrupted emit never returned.
    eventlog_kernel_batch_end();
    EXPECT_EQ(next_write(), "");
    EXPECT_EQ(counters().lost_busy, 1U);
}

TEST_F(per_thread_batch, does_not_write_to_foreign_file) {
    ASSERT_TRUE(begin(4096));
    emit("one");
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends.data()), 0);
    const unique_fd others_end(ends[0]);
    const unique_fd other(ends[1]);
    ASSERT_EQ(::dup3(other.get(), file.get(), O_CLOEXEC), file.get());
    eventlog_kernel_batch_flush();
    char byte = 0;
    EXPECT_EQ(::read(others_end.get(), &byte, 1), -1);
    EXPECT_EQ(counters().lost_unattached, 1U);
    EXPECT_EQ(route().file.load(), -1);
}

TEST_F(per_thread_batch, counts_truncated_texts) {
    ASSERT_TRUE(begin(4096));
    const eventlog_part piece{"cut", 3};
    eventlog_emit_raw_parts(&handle(), plain, &piece, 1, EVENTLOG_RECORD_TRUNCATED);
    EXPECT_EQ(next_write(), std::string("\5\0\0\0", 4) + "cut");
    EXPECT_EQ(counters().truncated, 1U);
}

TEST_F(per_thread_batch, is_flushed_by_provider_poll) {
    ASSERT_TRUE(begin(4096));
    emit("one");
    eventlog_provider_run_callbacks(&handle());
    EXPECT_EQ(entries_of(next_write()).size(), 1U);
}

/// A pipe that accepts only a part of a write.
TEST_F(per_thread_batch, counts_partial_write) {
    constexpr std::size_t capacity = 4096;
    constexpr std::size_t size = 40;
    constexpr std::size_t taken =
        (capacity - sizeof batch_header) / (sizeof(eventlog_timed_entry) + size);
    static_assert(sizeof batch_header + taken * (sizeof(eventlog_timed_entry) + size) == capacity);
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC), 0);
    const unique_fd reader(ends[0]);
    attach_file(unique_fd(ends[1]));
    if (::fcntl(reader.get(), F_SETPIPE_SZ, capacity) != capacity) {
        GTEST_SKIP() << "pipes are larger here";
    }
    ASSERT_TRUE(begin(room.size()));
    for (std::size_t i = 0; i < taken + 5; ++i) {
        emit(std::string(size, 'x'));
    }
    eventlog_kernel_batch_flush();
    EXPECT_EQ(counters().written, taken);
    EXPECT_EQ(counters().lost_refused, 5U);
}

TEST_F(per_thread_batch, keeps_order_with_unbatched_events) {
    ASSERT_TRUE(begin(4096));
    emit("first");
    route().takes_batches = false;
    emit("second");
    EXPECT_EQ(entries_of(next_write()).size(), 1U);
    EXPECT_EQ(next_write(), std::string("\5\0\0\0", 4) + "second");
}

TEST_F(per_thread_batch, is_not_flushed_by_raw_clone_child) {
    ASSERT_TRUE(begin(4096));
    emit("parent's");
    const long child = ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (child == 0) {
        eventlog_kernel_batch_flush();
        eventlog_kernel_batch_end();
        ::_exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(static_cast<pid_t>(child), &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(next_write(), "");
    eventlog_kernel_batch_flush();
    EXPECT_EQ(entries_of(next_write()).size(), 1U);
}

TEST_F(per_thread_batch, does_not_count_for_next_provider_of_handle) {
    ASSERT_TRUE(begin(4096));
    emit("one");
    route().withdrawals.fetch_add(1);
    route().generation.fetch_add(1);
    eventlog_kernel_batch_flush();
    EXPECT_EQ(counters().lost_unattached, 0U);
    EXPECT_EQ(next_write(), "");
}

TEST_F(per_thread_batch, is_empty_in_a_child) {
    ASSERT_TRUE(begin(4096));
    emit("parent's");
    const pid_t child = ::fork();
    if (child == 0) {
        eventlog_kernel_batch_flush();
        ::_exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(next_write(), "");
    eventlog_kernel_batch_flush();
    EXPECT_EQ(entries_of(next_write()).size(), 1U);
}

TEST_F(per_thread_batch, has_cpp_wrapper) {
    {
        eventlog::kernel_batch batch;
        emit("one");
        batch.flush();
        EXPECT_EQ(entries_of(next_write()).size(), 1U);
        emit("two");
        {
            const eventlog::kernel_batch<4096> inner;
            emit("three");
        }
        EXPECT_EQ(entries_of(next_write()).size(), 2U);
        emit("four");
    }
    EXPECT_EQ(entries_of(next_write()).size(), 1U);
    emit("five");
    EXPECT_EQ(next_write(), std::string("\5\0\0\0", 4) + "five");
}

}  // namespace
