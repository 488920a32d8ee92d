// SPDX-License-Identifier: MIT
//
// Counts in shared memory are believed while they grow by at most one per nanosecond and CPU.
#include "memory/count_limit.hpp"

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>
#include <eventlog/eventlog.hpp>

#include "detached_recorder.hpp"
#include "memory/recording.hpp"
#include "memory/region_reader.hpp"
#include "memory/subscription.hpp"
#include "memory/unattached_losses.hpp"
#include "provider/counters.hpp"
#include "two_event_provider.hpp"

namespace {

using elog::count_limit;

constexpr std::uint64_t second = 1'000'000'000;

TEST(count_limit, accepts_one_per_nanosecond_and_cpu) {
    count_limit one(second, 1);
    EXPECT_TRUE(one.take(second, 2 * second - 100, 2 * second));
    EXPECT_EQ(one.count(), second);
    // Since the beginning of the last reading.
    EXPECT_TRUE(one.take(second + 150, 2 * second + 40, 2 * second + 50));
    count_limit four(0, 4);
    EXPECT_TRUE(four.take(4 * second, second, second));
}

TEST(count_limit, keeps_last_possible_count_of_overwritten_one) {
    count_limit limit(0, 1);
    ASSERT_TRUE(limit.take(7, 10 * second, 10 * second));
    EXPECT_FALSE(limit.take(second + 8, 11 * second, 11 * second));
    EXPECT_EQ(limit.count(), 7U);
    // Time makes it possible, but not true.
    EXPECT_FALSE(limit.take(second + 8, 100 * second, 100 * second));
    EXPECT_FALSE(limit.take(8, 100 * second, 100 * second));
    EXPECT_EQ(limit.count(), 7U);
}

TEST(count_limit, rejects_count_that_falls) {
    count_limit limit(0, 1);
    ASSERT_TRUE(limit.take(7, second, second));
    EXPECT_FALSE(limit.take(6, 2 * second, 2 * second));
    EXPECT_EQ(limit.count(), 7U);
}

TEST(count_limit, handles_any_time) {
    EXPECT_TRUE(count_limit(UINT64_MAX, 1).take(5, 10, 10));  // begins in the future
    EXPECT_FALSE(count_limit(UINT64_MAX, 1).take(11, 10, 10));
    EXPECT_TRUE(count_limit(0, 3).take(UINT64_MAX, UINT64_MAX, UINT64_MAX));
}

struct nothing {};
using emitter = eventlog::provider<"count_limits", nothing>;

/// A subscription that began when the machine started, so that all counts were possible then.
struct old_subscription {
    old_subscription() : source(options()), header(source.region().header) {
        header.clock_start.monotonic = 1;
    }

    static elog::subscription_options options() {
        elog::subscription_options wanted;
        wanted.patterns.add("count_limits:*");
        wanted.patterns.add("unattached_limits:*");
        return wanted;
    }
    [[nodiscard]] elog::region_view view() const {
        return {source.region().file, header, source.region().geometry};
    }
    void store(std::uint64_t offset, std::uint64_t count) const {
        EXPECT_EQ(::pwrite(source.file().get(), &count, sizeof count, static_cast<off_t>(offset)),
                  static_cast<ssize_t>(sizeof count));
    }

    elog::subscription source;
    eventlog_region header;
};

// The number that a hostile process once made elog report.
constexpr std::uint64_t invented = 7'278'170'557;

TEST(count_limit, holds_for_counts_of_rings_since_last_reading) {
    old_subscription old;
    elog::region_reader reader(old.view(), elog::producer_policy::wait);
    emitter::emit(nothing{});
    reader.poll([](const elog::record_run&) {});
    const std::uint64_t ring = old.source.region().geometry.ring_offset(reader.shared_ring());
    old.store(ring + offsetof(eventlog_ring, lost), 3);
    reader.check_losses();
    EXPECT_FALSE(reader.has_impossible_counts());
    old.store(ring + offsetof(eventlog_ring, lost), invented);
    const std::vector<std::uint64_t> lost = reader.finish();
    EXPECT_EQ(lost[reader.shared_ring()], 3U);
    EXPECT_TRUE(reader.has_impossible_counts());
}

TEST(count_limit, holds_for_counts_of_providers_since_last_reading) {
    old_subscription old;
    elog::region_reader reader(old.view(), elog::producer_policy::wait);
    emitter::emit(nothing{});
    reader.poll([](const elog::record_run&) {});
    const std::uint64_t entry = old.source.region().geometry.providers_offset;
    old.store(entry + offsetof(eventlog_provider_entry, lost_busy), 3);
    EXPECT_EQ(reader.losses_of(0).busy, 3U);
    EXPECT_FALSE(reader.has_impossible_counts());
    old.store(entry + offsetof(eventlog_provider_entry, lost_busy), invented);
    EXPECT_EQ(reader.losses_of(0).busy, 3U);
    EXPECT_TRUE(reader.has_impossible_counts());
}

void check_unattached_counts() {
    const eventlog::dynamic_provider provider = eventlog::test::make("unattached_limits");
    const old_subscription old;
    EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NONE);  // maps its own counters
    const unsigned slot = old.source.slot();
    elog::unattached_losses losses(old.source.where(), slot, old.header);
    eventlog::core::count_unattached(*provider.handle(), slot, 3);
    losses.read();
    ASSERT_EQ(losses.all().size(), 1U);
    EXPECT_FALSE(losses.has_impossible_counts());
    eventlog::core::count_unattached(*provider.handle(), slot, invented);
    eventlog::test::number_sink sink;
    elog::recording recorded(old.view(), sink, std::move(losses));
    const elog::recording_summary summary = recorded.snapshot();
    EXPECT_EQ(summary.unattached, 3U);
    EXPECT_EQ(summary.lost, 3U);
    EXPECT_TRUE(summary.has_impossible_counts);
    EXPECT_TRUE(recorded.current_summary().has_impossible_counts);
}

TEST(count_limit, holds_for_unattached_counts_since_last_reading) {
    eventlog::test::check_in_child(check_unattached_counts);
}

}  // namespace
