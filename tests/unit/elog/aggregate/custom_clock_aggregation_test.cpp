// SPDX-License-Identifier: MIT
//
// Intervals of an aggregation follow the custom clock of the records.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "aggregate/aggregating_sink.hpp"
#include "aggregate/aggregator.hpp"
#include "custom_clock_recording.hpp"
#include "decoded_records.hpp"

namespace {

namespace test = eventlog::test;
using namespace eventlog::test::custom_clock;

/// Emits an event by this custom clock every 10 ms for so many seconds, and advances the intervals
/// as often. Returns the starts of the one-second intervals that were reported.
std::vector<std::int64_t> reported_intervals(custom_clock_function own, std::uint64_t seconds) {
    elog::aggregator computed(elog::aggregation::parse("The aggregation", "count()"), nullptr, 10);
    computed.add(test::mark_provider());
    std::vector<std::int64_t> found;
    elog::interval_aggregator intervals(
        computed, {.length = second},
        [&](std::optional<std::int64_t> begins) { found.push_back(begins.value_or(-1)); });
    constexpr std::uint64_t tick = second / 100;
    for (std::uint64_t passed = 0; passed < seconds * second; passed += tick) {
        const test::bytes bytes = records_of({{1, own(start + passed), true}});
        elog::merged_record record;
        record.record = test::decode_records(bytes).front();
        intervals.take(record, elog::clock_converter());
        intervals.advance(static_cast<std::int64_t>(start + passed - tick));
    }
    return found;
}

TEST(custom_clock_aggregation, reports_each_interval_of_slow_clock) {
    const auto behind = [](std::uint64_t time) { return time - 10 * second; };
    constexpr auto first = static_cast<std::int64_t>(start - 10 * second);
    constexpr auto length = static_cast<std::int64_t>(second);
    EXPECT_EQ(reported_intervals(behind, 4),
              (std::vector<std::int64_t>{first, first + length, first + 2 * length}));
}

TEST(custom_clock_aggregation, reports_intervals_while_fast_clock_is_stopped) {
    const auto ahead = [](std::uint64_t /*time*/) { return start + 3600 * second; };
    constexpr auto begins = static_cast<std::int64_t>(start + 3600 * second);
    EXPECT_EQ(reported_intervals(ahead, 4), (std::vector<std::int64_t>(3, begins)));
}

}  // namespace
