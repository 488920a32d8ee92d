// SPDX-License-Identifier: MIT
//
// Overwrite mode with several writers: no record is torn or duplicated, and every event is
// accounted for.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "listener.hpp"
#include "marked_payload.hpp"
#include "ring_fixture.hpp"

namespace {

using namespace overwrite_test;
using eventlog::test::plain;
using eventlog::test::ring_test;
using eventlog::test::ring_writer_param;
using eventlog::test::tick;

/// Several threads on all CPUs, and a reader that polls while they write or afterwards.
class overwriting_threads : public ::testing::TestWithParam<ring_writer_param> {
  protected:
    static constexpr unsigned threads = 4;
    static constexpr std::uint64_t records = 15000;

    /// Returns the number of recorded events.
    std::uint64_t write_all() {
        std::atomic<std::uint64_t> recorded{0};
        std::vector<std::thread> concurrent_writers;
        for (unsigned thread = 0; thread < threads; ++thread) {
            concurrent_writers.emplace_back([this, thread, &recorded] {
                std::uint64_t written = 0;
                for (std::uint64_t number = 0; number < records; ++number) {
                    const marked_payload payload(thread, number);
                    const write_result result =
                        plain(GetParam().write(*slot, mapping, eventlog::test::first_provider,
                                               {0, payload.size, payload.words.data(), {}}));
                    EXPECT_TRUE(result == write_result::written ||
                                result == write_result::lost_busy);
                    written += result == write_result::written ? 1 : 0;
                }
                recorded += written;
            });
        }
        for (std::thread& each : concurrent_writers) {
            each.join();
        }
        return recorded + 1;  // the event that attached the provider
    }

    /// Polls while the threads write; yields that many times between two polls.
    std::uint64_t write_all_read_by(int turns) {
        std::atomic<bool> done{false};
        std::uint64_t recorded = 0;
        std::thread writers([&] {
            recorded = write_all();
            done = true;
        });
        while (!done) {
            listener.poll();
            for (int turn = 0; turn < turns && !done; ++turn) {
                std::this_thread::yield();
            }
        }
        writers.join();
        return recorded;
    }

    /// Checks that the records are complete, in order and unique, and that every event is accounted
    /// for.
    void check(std::uint64_t recorded) {
        std::map<std::uint32_t, std::uint64_t> next;
        std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> next_number;
        for (const received_record& record : listener.records()) {
            next[record.ring] += record.lost_before;
            ASSERT_EQ(record.sequence, next[record.ring]);
            ++next[record.ring];
            if (is_attaching(record)) {
                continue;
            }
            const mark found = mark_of(record);
            std::uint64_t& expected = next_number[{record.ring, found.thread}];
            ASSERT_GE(found.number, expected);
            expected = found.number + 1;
        }
        const elog::ring_totals totals = listener.totals();
        EXPECT_EQ(totals.read, listener.records().size());
        EXPECT_EQ(totals.read + totals.overwritten, recorded);
        EXPECT_EQ(totals.lost, 0U);
        EXPECT_EQ(totals.damaged, 0U);
        EXPECT_EQ(recorded_in(*slot), recorded);
    }

    static bool is_attaching(const received_record& record) {
        std::uint64_t number = 0;
        std::memcpy(&number, record.payload.data(), sizeof number);
        return number == attaching;
    }

    static constexpr std::uint64_t attaching = 0xabcdU;

    void SetUp() override {
        ring_test::emit(tick{attaching});
        slot = eventlog::test::slot_of(listener);
        ASSERT_NE(slot, nullptr);
        mapping = slot->mapping.load();
    }

    eventlog::test::event_listener listener{"ring_test:*", {buffer_size, 2, true}};
    subscription_slot* slot = nullptr;
    std::uint64_t mapping = 0;
};

TEST_P(overwriting_threads, are_exact_with_continuous_reader) {
    const std::uint64_t recorded = write_all_read_by(0);
    listener.finish();
    check(recorded);
}

TEST_P(overwriting_threads, are_exact_with_slow_reader) {
    const std::uint64_t recorded = write_all_read_by(50);
    listener.finish();
    check(recorded);
}

TEST_P(overwriting_threads, are_exact_with_final_read) {
    const std::uint64_t recorded = write_all();
    listener.finish();
    check(recorded);
    EXPECT_GT(listener.totals().overwritten, 0U);
}

TEST_P(overwriting_threads, are_exact_without_reader) {
    const std::uint64_t recorded = write_all();
    EXPECT_EQ(listener.totals().read, 0U);
    EXPECT_EQ(recorded_in(*slot), recorded);
}

INSTANTIATE_TEST_SUITE_P(writers, overwriting_threads,
                         ::testing::ValuesIn(eventlog::test::ring_writers),
                         eventlog::test::ring_writer_name);

}  // namespace
