// SPDX-License-Identifier: MIT
//
// A process writes random data over a subscription's memory at full speed while producers write
// events and a reader reads. A process with write permission can make events unreadable, and do no
// other harm. EVENTLOG_TEST_SCRIBBLES sets the number of polls.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "base/user_error.hpp"
#include "file/file_check.hpp"
#include "file/file_sink.hpp"
#include "listener.hpp"
#include "memory/recording.hpp"
#include "memory/subscription.hpp"
#include "ring/region.hpp"
#include "scratch.hpp"
#include "trial_size.hpp"

namespace {

using eventlog::test::event_listener;
using eventlog::test::trial_size;

struct small_talk {
    std::uint64_t number;
    std::string_view text;
};
using hostile_writer = eventlog::provider<"hostile_writer", small_talk>;

/// Stores plausible values, mostly in the words that a reader uses first.
[[noreturn]] void scribble(std::span<__u64> words, const eventlog::core::region_geometry& geometry,
                           bool header_too) {
    const std::size_t rings = geometry.rings_offset / 8;
    const std::size_t tables = geometry.providers_offset / 8;
    const std::size_t first_buffer = geometry.buffers_offset / 8;
    std::mt19937_64 random(static_cast<std::uint64_t>(::getpid()));
    for (;;) {
        const std::uint64_t value = random() % 3 == 0   ? random()
                                    : random() % 2 == 0 ? random() % 4096
                                                        : UINT64_MAX - random() % 64;
        const std::uint64_t where = random() % (header_too ? 8 : 7);
        const std::size_t at = where < 3   ? rings + random() % (tables - rings)
                               : where < 6 ? first_buffer + random() % (words.size() - first_buffer)
                               : where < 7 ? tables + random() % (first_buffer - tables)
                                           : random() % rings;
        std::atomic_ref(words[at]).store(value, std::memory_order_relaxed);
        // Give the regular writers time.
        if (random() % 1024 == 0) {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    }
}

/// The results of some polls.
struct tally {
    std::uint64_t looks = 0;
    std::uint64_t refused = 0;  // in words: for example an invalid header
    std::uint64_t emitted = 0;
    std::uint64_t received = 0;
    std::uint64_t damaged = 0;
};

void look(event_listener& listener, tally& sum) {
    try {
        listener.poll();
    } catch (const elog::user_error&) {
        ++sum.refused;
    }
    sum.received += listener.records().size();
    listener.clear_records();
    ++sum.looks;
}

/// A subscription with a regular and a hostile writer.
void run_round(std::uint64_t looks, bool overwrite, bool header_too, tally& sum) {
    event_listener listener("hostile_writer:*", {128U << 10U, 4, overwrite});
    hostile_writer::emit(small_talk{0, "attaches"});
    const eventlog::core::region_geometry geometry = listener.source().geometry();
    void* const mapped = ::mmap(nullptr, geometry.total_size, PROT_READ | PROT_WRITE, MAP_SHARED,
                                listener.source().file().get(), 0);
    ASSERT_NE(mapped, MAP_FAILED);
    const pid_t enemy = ::fork();
    ASSERT_GE(enemy, 0);
    if (enemy == 0) {
        scribble({static_cast<__u64*>(mapped), geometry.total_size / 8}, geometry, header_too);
    }
    std::atomic<bool> enough{false};
    std::thread writer([&] {
        for (; !enough.load(); ++sum.emitted) {
            hostile_writer::emit(small_talk{sum.emitted, "what others have to say"});
        }
    });
    for (std::uint64_t i = 0; i < looks; ++i) {
        look(listener, sum);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    enough.store(true);
    writer.join();
    ASSERT_EQ(::kill(enemy, SIGKILL), 0);
    ASSERT_EQ(::waitpid(enemy, nullptr, 0), enemy);
    listener.source().end();
    look(listener, sum);
    sum.damaged += listener.totals().damaged;
    ::munmap(mapped, geometry.total_size);
}

class hostile_writer_in_mode : public ::testing::TestWithParam<bool> {};

TEST_P(hostile_writer_in_mode, does_not_harm_reader_or_writers) {
    constexpr std::uint64_t at_a_time = 100;
    const std::uint64_t looks = trial_size("EVENTLOG_TEST_SCRIBBLES", 1000);
    tally sum;
    for (std::uint64_t i = 0; i < looks && !HasFatalFailure(); i += at_a_time) {
        run_round(at_a_time, GetParam(), i / at_a_time % 4 == 3, sum);
    }
    EXPECT_GT(sum.emitted, 0U);
    std::cout << sum.looks << " looks, " << sum.refused << " of them refused, " << sum.emitted
              << " events emitted, " << sum.received << " received, " << sum.damaged
              << " made no sense\n";
    // A later subscription is not affected.
    event_listener listener("hostile_writer:*");
    hostile_writer::emit(small_talk{0, "all is well"});
    listener.finish();
    EXPECT_EQ(listener.totals().read, 1U);
    EXPECT_EQ(listener.totals().damaged, 0U);
}

/// Counts of more events than the machine can have emitted are left out, and the file is valid.
TEST_P(hostile_writer_in_mode, does_not_make_up_losses) {
    const std::string path = eventlog::test::scratch_directory() + "/hostile_counts.elog";
    elog::subscription_options options;
    options.patterns.add("hostile_writer:*");
    options.overwrite = GetParam();
    elog::subscription source(options);
    elog::file_sink sink({path});
    elog::recording recorded(source, sink);
    hostile_writer::emit(small_talk{0, "attaches"});
    const eventlog::core::region_geometry& geometry = source.region().geometry;
    const auto store = [&](std::uint64_t offset) {
        const std::uint64_t count = UINT64_MAX / 4;
        EXPECT_EQ(::pwrite(source.file().get(), &count, sizeof count, static_cast<off_t>(offset)),
                  static_cast<ssize_t>(sizeof count));
    };
    for (std::uint32_t ring = 0; ring < geometry.ring_count; ++ring) {
        store(geometry.ring_offset(ring) + offsetof(eventlog_ring, lost));
        store(geometry.ring_offset(ring) + sizeof(eventlog_ring) +
              offsetof(eventlog_buffer, lost_before));
        store(geometry.ring_offset(ring) + sizeof(eventlog_ring) +
              offsetof(eventlog_buffer, records_before));
    }
    store(geometry.providers_offset + offsetof(eventlog_provider_entry, lost_too_large));
    store(geometry.providers_offset + offsetof(eventlog_provider_entry, lost_busy));
    const elog::recording_summary summary = recorded.end();
    EXPECT_EQ(summary.lost, 0U);
    EXPECT_EQ(summary.overwritten, 0U);
    EXPECT_EQ(summary.events, 1U);
    EXPECT_TRUE(summary.has_impossible_counts);
    const elog::file_check_result found = elog::check_file(path);
    EXPECT_EQ(found.damages, std::vector<std::string>{});
    EXPECT_EQ(found.records, 1U);
    EXPECT_EQ(found.lost, 0U);
}

/// Control words with more records than fit into their bytes count none of them.
TEST_P(hostile_writer_in_mode, does_not_make_up_records) {
    constexpr std::uint64_t generation = 1;
    elog::subscription_options options;
    options.patterns.add("hostile_writer:*");
    options.overwrite = GetParam();
    elog::subscription source(options);
    elog::file_sink sink({eventlog::test::scratch_directory() + "/hostile_controls.elog"});
    elog::recording recorded(source, sink);
    hostile_writer::emit(small_talk{0, "attaches"});
    // So that one CPU can have counted so many.
    std::this_thread::sleep_for(std::chrono::nanoseconds(2 * EVENTLOG_COUNT_MASK));
    const eventlog::core::region_geometry& geometry = source.region().geometry;
    const auto store = [&](std::uint64_t offset, std::uint64_t value) {
        EXPECT_EQ(::pwrite(source.file().get(), &value, sizeof value, static_cast<off_t>(offset)),
                  static_cast<ssize_t>(sizeof value));
    };
    constexpr std::uint64_t one_unit = 1 | EVENTLOG_COUNT_MASK << EVENTLOG_COUNT_SHIFT;
    for (std::uint32_t ring = 0; ring < geometry.ring_count; ++ring) {
        const std::uint64_t first = geometry.ring_offset(ring) + sizeof(eventlog_ring);
        store(first + offsetof(eventlog_buffer, sealed), one_unit);
        const std::uint64_t active = first + sizeof(eventlog_buffer);
        store(active + offsetof(eventlog_buffer, generation), generation);
        store(active + offsetof(eventlog_buffer, sealed),
              one_unit | generation << EVENTLOG_GENERATION_SHIFT);
        store(geometry.ring_offset(ring) + offsetof(eventlog_ring, control),
              one_unit | generation << EVENTLOG_GENERATION_SHIFT);
    }
    const elog::recording_summary summary = recorded.end();
    EXPECT_EQ(summary.lost, 0U);
    EXPECT_EQ(summary.damaged, 0U);
    EXPECT_EQ(summary.overwritten, 0U);
    EXPECT_TRUE(summary.has_impossible_counts);
}

INSTANTIATE_TEST_SUITE_P(modes, hostile_writer_in_mode, ::testing::Bool(), [](const auto& each) {
    return std::string(each.param ? "overwrite" : "discard");
});

}  // namespace
