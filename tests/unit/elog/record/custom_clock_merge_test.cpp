// SPDX-License-Identifier: MIT
//
// Records by a custom clock keep their place in their ring; no other record changes its place.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "custom_clock_recording.hpp"
#include "record/time_merger.hpp"

namespace {

namespace test = eventlog::test;
using namespace eventlog::test::custom_clock;

void add(elog::time_merger& merger, std::uint32_t ring, const std::vector<timed>& wanted) {
    const test::bytes records = records_of(wanted);
    elog::record_run run;
    run.ring = ring;
    run.count = wanted.size();
    run.bytes = records;
    merger.add(run);
}

std::vector<std::uint64_t> merge(elog::time_merger& merger, std::uint64_t limit) {
    std::vector<std::uint64_t> numbers;
    merger.merge(limit, UINT64_MAX,
                 [&](const elog::merged_record& record) { numbers.push_back(number_of(record)); });
    return numbers;
}

TEST(custom_clock_merge, keeps_order_of_other_records) {
    for (const std::uint64_t any : {std::uint64_t{0}, std::uint64_t{25}, UINT64_MAX}) {
        elog::time_merger merger(2);
        add(merger, 0, {{1, 10}, {100, any, true}, {3, 30}, {101, any, true}, {5, 50}});
        add(merger, 1, {{2, 20}, {4, 40}, {6, 60}});
        numbers found = merge(merger, UINT64_MAX);
        EXPECT_EQ(found.size(), 8U);
        found.erase(std::remove_if(found.begin(), found.end(),
                                   [](std::uint64_t number) { return number >= 100; }),
                    found.end());
        EXPECT_EQ(found, (numbers{1, 2, 3, 4, 5, 6})) << any;
    }
}

TEST(custom_clock_merge, keeps_ring_order) {
    elog::time_merger merger(2);
    add(merger, 0, {{1, 10}, {100, UINT64_MAX, true}, {101, 1, true}, {3, 30}});
    add(merger, 1, {{2, 20}});
    EXPECT_EQ(merge(merger, UINT64_MAX), (numbers{1, 100, 101, 2, 3}));
}

TEST(custom_clock_merge, does_not_wait_for_future_or_past_times) {
    elog::time_merger merger(2);
    add(merger, 0, {{100, UINT64_MAX, true}, {1, 10}, {101, UINT64_MAX - 1, true}, {102, 3, true}});
    add(merger, 1, {{2, 20}});
    EXPECT_EQ(merge(merger, 0), (numbers{100}));
    EXPECT_EQ(merge(merger, 10), (numbers{1, 101, 102}));
    add(merger, 0, {{103, UINT64_MAX, true}});
    EXPECT_EQ(merge(merger, 10), (numbers{103}));
    EXPECT_EQ(merge(merger, 20), (numbers{2}));
}

TEST(custom_clock_merge, orders_by_custom_clock_if_it_is_the_only_clock) {
    elog::time_merger merger(3);
    add(merger, 0, {{1, 1000, true}, {4, 4000, true}, {5, 5000, true}});
    add(merger, 2, {{2, 2000, true}, {3, 3000, true}, {6, 6000, true}});
    EXPECT_EQ(merge(merger, 0), (numbers{1, 2, 3, 4, 5, 6}));
}

}  // namespace
