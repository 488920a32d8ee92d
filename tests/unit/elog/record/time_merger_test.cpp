// SPDX-License-Identifier: MIT
#include "record/time_merger.hpp"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "record/ring_records.hpp"

namespace {

using bytes = std::vector<std::uint8_t>;

bytes make_records(std::initializer_list<std::uint64_t> times) {
    bytes made;
    for (const std::uint64_t time : times) {
        elog::record_view record;
        record.time = time;
        elog::append_record(made, record);
    }
    return made;
}

void add(elog::time_merger& merger, std::uint32_t ring, const bytes& records,
         std::uint64_t lost_before = 0) {
    elog::record_run run;
    run.ring = ring;
    run.lost_before = lost_before;
    run.count = elog::check_records(records).count;
    run.bytes = records;
    merger.add(run);
}

using taken = std::vector<std::pair<std::uint32_t, std::uint64_t>>;  // ring, time

taken merge(elog::time_merger& merger, std::uint64_t limit) {
    taken result;
    merger.merge(limit, UINT64_MAX, [&](const elog::merged_record& record) {
        result.emplace_back(record.ring, record.record.time);
    });
    return result;
}

TEST(time_merger, yields_records_of_all_rings_by_time) {
    elog::time_merger merger(3);
    add(merger, 0, make_records({1, 5, 9}));
    add(merger, 2, make_records({2, 3, 10}));
    EXPECT_EQ(merge(merger, UINT64_MAX), (taken{{0, 1}, {2, 2}, {2, 3}, {0, 5}, {0, 9}, {2, 10}}));
}

TEST(time_merger, holds_records_after_limit) {
    elog::time_merger merger(2);
    add(merger, 0, make_records({1, 5}));
    add(merger, 1, make_records({4, 6}));
    EXPECT_EQ(merge(merger, 4), (taken{{0, 1}, {1, 4}}));
    add(merger, 0, make_records({7}));
    EXPECT_EQ(merge(merger, UINT64_MAX), (taken{{0, 5}, {1, 6}, {0, 7}}));
    EXPECT_EQ(merge(merger, UINT64_MAX), taken{});
}

TEST(time_merger, yields_records_one_by_one) {
    elog::time_merger merger(2);
    add(merger, 0, make_records({1, 5}));
    add(merger, 1, make_records({4, 6}));
    EXPECT_FALSE(merger.next().has_value());
    merger.begin(5, UINT64_MAX);
    for (const std::uint64_t time : {1U, 4U, 5U}) {
        const auto record = merger.next();
        ASSERT_TRUE(record.has_value());
        EXPECT_EQ(record->record.time, time);
    }
    EXPECT_FALSE(merger.next().has_value());
    EXPECT_EQ(merge(merger, UINT64_MAX), (taken{{1, 6}}));
}

TEST(time_merger, does_not_wait_for_future_record) {
    elog::time_merger merger(2);
    add(merger, 0, make_records({1, UINT64_MAX - 1, 2, 3}));
    add(merger, 1, make_records({2, 9}));
    taken result;
    merger.merge(5, 10, [&](const elog::merged_record& record) {
        result.emplace_back(record.ring, record.record.time);
    });
    EXPECT_EQ(result, (taken{{0, 1}, {1, 2}, {0, UINT64_MAX - 1}, {0, 2}, {0, 3}}));
}

TEST(time_merger, reports_loss_with_next_record) {
    elog::time_merger merger(1);
    add(merger, 0, make_records({1, 2}));
    add(merger, 0, make_records({3, 4}), 9);
    std::vector<std::uint64_t> lost;
    merger.merge_rest(
        [&](const elog::merged_record& record) { lost.push_back(record.lost_before); });
    EXPECT_EQ(lost, (std::vector<std::uint64_t>{0, 0, 9, 0}));
}

TEST(time_merger, fetches_next_run_of_ring_when_empty) {
    int fetched = 0;
    elog::time_merger merger(2, [&](std::uint32_t ring) -> std::optional<elog::owned_run> {
        if (ring == 1 || fetched == 3) {
            return std::nullopt;
        }
        ++fetched;
        const auto time = static_cast<std::uint64_t>(fetched);
        return elog::owned_run{0, make_records({time, time})};
    });
    EXPECT_EQ(merge(merger, UINT64_MAX), (taken{{0, 1}, {0, 1}, {0, 2}, {0, 2}, {0, 3}, {0, 3}}));
}

}  // namespace
