// SPDX-License-Identifier: MIT
//
// A second reader of a subscription changes nothing for its owner.
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include "listener.hpp"
#include "memory/region_reader.hpp"
#include "ring_fixture.hpp"

namespace {

using eventlog::test::ring_test;
using eventlog::test::tick;

constexpr std::size_t buffer_size = 128U << 10U;

TEST(second_reader, consumes_nothing) {
    const eventlog::test::pinned_to_one_cpu pinned;
    eventlog::test::event_listener listener("ring_test:*", {buffer_size, 2, false});
    for (std::uint64_t number = 0; number < 100; ++number) {
        ring_test::emit(tick{number});
    }
    for (int time = 0; time < 2; ++time) {
        elog::region_reader other(listener.source().region(), elog::producer_policy::never_wait);
        std::uint64_t read = 0;
        other.poll([&](const elog::record_run& run) { read += run.count; });
        EXPECT_EQ(read, 100U);
    }
    listener.finish();
    EXPECT_EQ(listener.records().size(), 100U);
}

TEST(second_reader, reports_drops_of_full_ring) {
    const eventlog::test::pinned_to_one_cpu pinned;
    eventlog::test::event_listener listener("ring_test:*", {buffer_size, 2, false});
    for (std::uint64_t number = 0; number < 20000; ++number) {
        ring_test::emit(tick{number});
    }
    elog::region_reader other(listener.source().region(), elog::producer_policy::never_wait);
    std::uint64_t read = 0;
    other.poll([&](const elog::record_run& run) { read += run.count; });
    std::uint64_t lost = 0;
    for (const std::uint64_t each : other.finish()) {
        lost += each;
    }
    EXPECT_GT(lost, 0U);
    EXPECT_EQ(read + lost, 20000U);
}

}  // namespace
