// SPDX-License-Identifier: MIT
#include "record/run_coalescer.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "record/ring_records.hpp"
#include "recording_sample.hpp"

namespace {

namespace test = eventlog::test;
constexpr std::size_t record_size = elog::ring_size(sizeof(test::mark));
using clock_type = elog::run_coalescer::clock;

struct written_run {
    std::uint32_t ring;
    std::uint64_t lost_before;
    std::uint64_t sequence;
    std::uint64_t count;
    test::bytes bytes;
    bool operator==(const written_run&) const = default;
};

struct collector {
    std::vector<written_run> runs;
    void operator()(const elog::record_run& run) {
        runs.push_back({run.ring, run.lost_before, run.sequence, run.count,
                        test::bytes(run.bytes.begin(), run.bytes.end())});
    }
};

elog::record_run run_of(const test::bytes& records, std::uint64_t sequence, std::uint32_t ring = 0,
                        std::uint64_t lost_before = 0) {
    return {ring, lost_before, sequence, records.size() / record_size, records};
}

TEST(run_coalescer, joins_runs_per_ring) {
    elog::run_coalescer batches(2);
    collector written;
    const clock_type::time_point now{};
    const test::bytes first = test::make_records(1, 3);
    const test::bytes second = test::make_records(4, 4);
    const test::bytes third = test::make_records(5, 9);
    batches.add(run_of(first, 0), now, std::ref(written));
    batches.add(run_of(second, 0, 1), now, std::ref(written));
    batches.add(run_of(third, 3), now, std::ref(written));
    EXPECT_TRUE(written.runs.empty());
    batches.flush(now, std::ref(written));
    test::bytes both = first;
    both.insert(both.end(), third.begin(), third.end());
    const std::vector<written_run> expected{{0, 0, 0, 8, both}, {1, 0, 0, 1, second}};
    EXPECT_EQ(written.runs, expected);
    batches.flush(now, std::ref(written));
    EXPECT_EQ(written.runs.size(), 2U);
}

TEST(run_coalescer, starts_new_run_after_gap) {
    elog::run_coalescer batches(1);
    collector written;
    const clock_type::time_point now{};
    batches.add(run_of(test::make_records(1, 3), 0), now, std::ref(written));
    const test::bytes behind = test::make_records(6, 6);
    batches.add(run_of(behind, 5, 0, 2), now, std::ref(written));
    EXPECT_EQ(written.runs.size(), 1U);
    batches.flush(now, std::ref(written));
    EXPECT_EQ(written.runs.back(), (written_run{0, 2, 5, 1, behind}));
}

TEST(run_coalescer, yields_runs_after_delay_only) {
    elog::run_coalescer batches(2);
    collector written;
    const clock_type::time_point begin{};
    batches.add(run_of(test::make_records(1, 1), 0), begin, std::ref(written));
    batches.add(run_of(test::make_records(2, 2), 0, 1), begin + std::chrono::seconds(1),
                std::ref(written));
    batches.flush(begin, std::ref(written));
    ASSERT_EQ(written.runs.size(), 1U);
    EXPECT_EQ(written.runs[0].ring, 0U);
}

TEST(run_coalescer, splits_large_runs_with_continuous_numbering) {
    elog::run_coalescer batches(1);
    collector written;
    const test::bytes records = test::make_records(1, 20'000);
    batches.add(run_of(records, 7, 0, 3), {}, std::ref(written));
    batches.flush(clock_type::time_point::max(), std::ref(written));
    test::bytes all;
    std::uint64_t sequence = 7;
    for (const written_run& run : written.runs) {
        EXPECT_LE(run.bytes.size(), batches.size_max());
        EXPECT_EQ(run.bytes.size(), run.count * record_size);
        EXPECT_EQ(run.sequence, sequence);
        EXPECT_EQ(run.lost_before, all.empty() ? 3U : 0U);
        sequence += run.count;
        all.insert(all.end(), run.bytes.begin(), run.bytes.end());
    }
    EXPECT_GT(written.runs.size(), 2U);
    EXPECT_EQ(all, records);
}

/// Records of a producer's ring: a short one needs the context before it.
TEST(run_coalescer, keeps_context_of_joined_runs) {
    const std::array<std::uint64_t, 2> thread_7{1ULL << 42U | 1ULL << 40U | 20, 7ULL << 32U};
    const std::array<std::uint64_t, 1> same_thread{2ULL << 42U | 21};
    const auto bytes_of = [](const auto& words) {
        return std::span(reinterpret_cast<const std::uint8_t*>(words.data()), sizeof words);
    };
    elog::run_coalescer batches(1);
    std::vector<std::uint32_t> threads;
    std::vector<std::uint64_t> times;
    const auto collect = [&](const elog::record_run& run) {
        elog::run_reader records(run);
        for (elog::record_view record; records.next(record);) {
            threads.push_back(record.thread);
            times.push_back(record.time);
        }
    };
    elog::record_run run;
    run.count = 1;
    run.bytes = bytes_of(thread_7);
    batches.add(run, {}, collect);
    // A sink before this one may have dropped the record of thread 8 that set this context.
    run.bytes = bytes_of(same_thread);
    run.context = 8ULL << 32U | 1;
    batches.add(run, {}, collect);
    batches.flush(clock_type::time_point::max(), collect);
    EXPECT_EQ(threads, (std::vector<std::uint32_t>{7, 8}));
    EXPECT_EQ(times, (std::vector<std::uint64_t>{20, (1ULL << 32U) + 21}));
}

TEST(run_coalescer, shrinks_runs_with_many_rings_but_keeps_every_record) {
    const elog::run_coalescer many(EVENTLOG_RINGS_MAX);
    EXPECT_EQ(many.size_max(), elog::ring_size(elog::payload_size_max));
    EXPECT_GT(elog::run_coalescer(9).size_max(), many.size_max());
}

}  // namespace
