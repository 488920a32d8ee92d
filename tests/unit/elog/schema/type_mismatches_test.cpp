// SPDX-License-Identifier: MIT
//
// Reports of events whose types do not match the query, for any number of them in a file.
#include "schema/type_mismatches.hpp"

#include <linux/eventlog.h>

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

constexpr std::uint64_t kept = elog::type_mismatches::kept_max;

elog::provider_instance provider_with(std::uint16_t id, std::size_t events) {
    elog::provider_instance provider;
    provider.id = id;
    provider.schema.name = "p" + std::to_string(id);
    for (std::size_t i = 0; i < events; ++i) {
        provider.schema.events.emplace_back().name = "e" + std::to_string(i);
    }
    return provider;
}

void note_all(elog::type_mismatches& events, const elog::provider_instance& provider) {
    for (std::size_t i = 0; i < provider.schema.events.size(); ++i) {
        events.note(provider, i, elog::user_error("It has no such field."));
    }
}

TEST(type_mismatches, reports_event_of_many_processes_once) {
    elog::type_mismatches events;
    for (std::uint16_t id = 0; id < 3; ++id) {
        elog::provider_instance provider = provider_with(id, 2);
        provider.schema.name = "same";
        note_all(events, provider);
        events.count(id, 1);
    }
    EXPECT_EQ(events.counted(), 3U);
    EXPECT_EQ(events.sentences(),
              std::vector<std::string>{"3 events of same:e1 were left out: It has no such field."});
    EXPECT_EQ(events.sentences(true).size(), 2U);
}

TEST(type_mismatches, keep_first_and_count_all) {
    elog::type_mismatches events;
    std::uint64_t counted = 0;
    for (std::uint16_t id = 0; id < 16; ++id) {
        const elog::provider_instance provider = provider_with(id, EVENTLOG_EVENTS_MAX);
        note_all(events, provider);
        for (std::uint16_t event = 0; event < EVENTLOG_EVENTS_MAX; ++event, ++counted) {
            events.count(id, event);
        }
    }
    EXPECT_EQ(events.counted(), counted);
    const std::vector<std::string> sentences = events.sentences();
    ASSERT_EQ(sentences.size(), kept + 1);
    EXPECT_EQ(sentences.front(), "1 events of p0:e0 were left out: It has no such field.");
    EXPECT_EQ(sentences.back(), std::to_string(counted - kept) +
                                    " events of other kinds than the first 1000 were left out for "
                                    "such reasons, too.");
}

TEST(type_mismatches, keep_counting_stored_ones_when_full) {
    elog::type_mismatches events;
    note_all(events, provider_with(0, kept));
    note_all(events, provider_with(1, 1));
    note_all(events, provider_with(2, 0));
    elog::provider_instance again = provider_with(0, 1);
    again.id = 3;
    note_all(events, again);
    events.count(3, 0);
    EXPECT_EQ(events.sentences(),
              std::vector<std::string>{"1 events of p0:e0 were left out: It has no such field."});
    EXPECT_EQ(events.sentences(true).size(), kept + 1);
}

}  // namespace
