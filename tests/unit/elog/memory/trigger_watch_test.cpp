// SPDX-License-Identifier: MIT
//
// Watching events while they are recorded, without delaying their writers.
#include "memory/trigger_watch.hpp"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"

namespace {

using elog::record_filter;
using elog::trigger_watch;
using eventlog::test::event_listener;
using eventlog::test::pinned_to_one_cpu;

struct step {
    std::uint64_t number;
    std::uint64_t took;
};
using watch_test = eventlog::provider<"watch_test", step>;

struct other_step {
    std::string_view took;
};
using late_watch_test = eventlog::provider<"late_watch_test", other_step>;

record_filter filter_of(const std::string& text) {
    return {elog::predicate("--when", text), 0};
}

void fail_on_mismatch(const std::string& sentence) {
    ADD_FAILURE() << sentence;
}

TEST(trigger_watch, matches_each_new_event_once) {
    event_listener listener("watch_test:*", {128U << 10U, 4, true});
    watch_test::emit(step{1, 100});
    record_filter wanted = filter_of("took > 50");
    trigger_watch watch(listener.source().region(), wanted, fail_on_mismatch);
    EXPECT_EQ(watch.poll(), 0U);
    watch_test::emit(step{2, 100});
    watch_test::emit(step{3, 10});
    watch_test::emit(step{4, 51});
    EXPECT_EQ(watch.poll(), 2U);
    EXPECT_EQ(watch.poll(), 0U);
    EXPECT_EQ(watch.seen(), 3U);
    EXPECT_EQ(watch.missed(), 0U);
}

TEST(trigger_watch, finds_events_of_late_providers) {
    event_listener listener("*:*", {128U << 10U, 4, true});
    record_filter wanted = filter_of("provider == \"late_watch_test\"");
    trigger_watch watch(listener.source().region(), wanted, fail_on_mismatch);
    late_watch_test::emit(other_step{"long"});
    EXPECT_EQ(watch.poll(), 1U);
}

TEST(trigger_watch, counts_events_overwritten_before_reading) {
    const pinned_to_one_cpu pinned;
    event_listener listener("watch_test:*", {128U << 10U, 2, true});
    constexpr std::uint64_t before = 20000;
    constexpr std::uint64_t since = 30000;
    for (std::uint64_t number = 0; number < before; ++number) {
        watch_test::emit(step{number, 1});
    }
    record_filter wanted = filter_of("took == 1");
    trigger_watch watch(listener.source().region(), wanted, fail_on_mismatch);
    for (std::uint64_t number = 0; number < since; ++number) {
        watch_test::emit(step{number, 1});
    }
    const std::uint64_t found = watch.poll();
    EXPECT_GT(found, 0U);
    EXPECT_EQ(found, watch.seen());
    EXPECT_GT(watch.missed(), 0U);
    EXPECT_EQ(watch.seen() + watch.missed(), since);
    // Repeated calls count an event once.
    EXPECT_EQ(watch.seen() + watch.missed(), since);
}

}  // namespace
