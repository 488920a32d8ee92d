// SPDX-License-Identifier: MIT
//
// Collectors while the process changes: providers come and go, it forks, descriptors run out.
#include <sys/resource.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/collector.hpp>
#include <eventlog/eventlog.hpp>

#include "run_in_child.hpp"

namespace {

struct picked {
    std::uint64_t number;
};
struct sorted {
    std::uint64_t number;
};
using orchard = eventlog::provider<"collect_process", picked, sorted>;

void emit_picked(std::uint64_t number) {
    orchard::emit(picked{number});
}

std::vector<std::uint64_t> read_numbers(eventlog::collector& events) {
    std::vector<std::uint64_t> numbers;
    while (const auto event = events.try_get()) {
        numbers.push_back(event->get<std::uint64_t>("number").value_or(UINT64_MAX));
    }
    return numbers;
}

}  // namespace

TEST(collector_of_process, sees_providers_that_are_registered_later) {
    eventlog::collector events({"collect_late:*"});
    const eventlog_field_definition field{.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_64};
    const eventlog_event_definition event{.name = "late", .fields = &field, .field_count = 1};
    eventlog_definition definition{EVENTLOG_DEFINITION_SIZES};
    definition.name = "collect_late";
    definition.events = &event;
    definition.event_count = 1;
    for (std::uint64_t number = 0; number < 6; ++number) {
        eventlog_provider* provider = nullptr;
        ASSERT_EQ(eventlog_provider_create(&definition, &provider, nullptr, 0),
                  EVENTLOG_ERROR_NONE);
        const eventlog_value value = eventlog_unsigned(number);
        EXPECT_EQ(eventlog_emit(provider, 0, &value, 1), EVENTLOG_ERROR_NONE);
        eventlog_provider_destroy(provider);
    }
    EXPECT_EQ(read_numbers(events), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
}

TEST(collector_of_process, registering_again_takes_no_more_room) {
    eventlog::collector events({"collect_again:*"});
    const std::string description(200, 'd');
    const eventlog_field_definition field{.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_64};
    std::vector<std::string> names;
    std::vector<eventlog_event_definition> kinds;
    for (unsigned i = 0; i < 1000; ++i) {
        names.push_back("kind_" + std::to_string(i));
    }
    for (const std::string& name : names) {
        kinds.push_back({.name = name.c_str(),
                         .description = description.c_str(),
                         .fields = &field,
                         .field_count = 1});
    }
    eventlog_definition definition{EVENTLOG_DEFINITION_SIZES};
    definition.name = "collect_again";
    definition.events = kinds.data();
    definition.event_count = static_cast<std::uint32_t>(kinds.size());
    for (std::uint64_t number = 0; number < 100; ++number) {
        eventlog_provider* provider = nullptr;
        ASSERT_EQ(eventlog_provider_create(&definition, &provider, nullptr, 0),
                  EVENTLOG_ERROR_NONE);
        const eventlog_value value = eventlog_unsigned(number);
        EXPECT_EQ(eventlog_emit(provider, 7, &value, 1), EVENTLOG_ERROR_NONE);
        eventlog_provider_destroy(provider);
    }
    EXPECT_EQ(read_numbers(events).size(), 100U);
    EXPECT_EQ(events.counts().providers_refused, 0U);
}

TEST(collector_of_process, counts_events_while_no_gate_can_be_mapped) {
    const int status = eventlog::test::run_in_child([] {
        rlimit no_files{0, 0};
        ::setrlimit(RLIMIT_NOFILE, &no_files);
        eventlog::collector events({"collect_process:sorted"});
        if (events.error() != EVENTLOG_ERROR_NONE) {
            return 1;
        }
        for (std::uint64_t number = 0; number < 10; ++number) {
            orchard::emit(sorted{number});
        }
        const std::uint64_t read = read_numbers(events).size();
        if (read + events.counts().lost_unattached != 10) {
            return 2;
        }
        // Events that the collector does not want are not lost.
        if (!events.set_patterns({"other:*"})) {
            return 3;
        }
        const std::uint64_t lost = events.counts().lost_unattached;
        orchard::emit(sorted{10});
        return events.counts().lost_unattached == lost ? 0 : 4;
    });
    EXPECT_EQ(status, 0);
}

TEST(collector_of_process, of_a_child_does_not_wait_for_threads_of_its_parent) {
    eventlog::collector events({"collect_process:sorted"});
    std::atomic<bool> stops{false};
    std::vector<std::thread> emitters;
    for (int i = 0; i < 3; ++i) {
        emitters.emplace_back([&] {
            while (!stops) {
                orchard::emit(sorted{1});
            }
        });
    }
    int failed = 0;
    for (int round = 0; round < 30; ++round) {
        failed += eventlog::test::run_in_child([&] {
                      const std::uint64_t busy = events.counts().lost_busy;
                      orchard::emit(sorted{2});
                      return events.counts().lost_busy == busy ? 0 : 1;
                  }) != 0;
    }
    stops = true;
    for (std::thread& emitter : emitters) {
        emitter.join();
    }
    EXPECT_EQ(failed, 0);
}

TEST(collector_of_process, continues_in_a_forked_child) {
    eventlog::collector events({"collect_process:sorted"});
    ASSERT_TRUE(events.set_mask("collect_process", {true, false}));
    emit_picked(1);
    const int status = eventlog::test::run_in_child([&] {
        emit_picked(2);
        orchard::emit(sorted{3});  // not in the mask
        return read_numbers(events) == std::vector<std::uint64_t>{1, 2} ? 0 : 1;
    });
    EXPECT_EQ(status, 0);
    emit_picked(4);
    EXPECT_EQ(read_numbers(events), (std::vector<std::uint64_t>{1, 4}));
}
