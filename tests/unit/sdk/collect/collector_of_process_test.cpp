// SPDX-License-Identifier: MIT
//
// Collectors while the process changes: providers come and go, it forks, descriptors run out.
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/collector.hpp>
#include <eventlog/dynamic_provider.hpp>
#include <eventlog/eventlog.hpp>

#include "provider/registered_provider.hpp"
#include "ring/subscription_slots.hpp"
#include "run_in_child.hpp"
#include "two_event_provider.hpp"

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

TEST(collector_of_process, has_no_events_of_the_next_provider_with_a_handle) {
    eventlog::collector events({"reused_collected:first"});
    eventlog_provider* handle = nullptr;
    {
        const eventlog::dynamic_provider before = eventlog::test::make("reused_collected");
        handle = before.handle();
        EXPECT_EQ(before.emit(0), EVENTLOG_ERROR_NONE);
        ASSERT_TRUE(events.try_get());
    }
    std::optional<eventlog::dynamic_provider> next;
    for (int i = 0; i < 100 && (!next || next->handle() != handle); ++i) {
        next.reset();
        next.emplace(eventlog::test::definition_of("reused_other"));
    }
    ASSERT_EQ(next->handle(), handle);
    EXPECT_FALSE(next->enabled(0));
    const std::atomic<std::uint64_t>& serial =
        eventlog::core::subscription_slots[eventlog::core::first_collector_slot].serial;
    ASSERT_NE(serial, 0U);
    EXPECT_FALSE(
        handle->attachment_to(eventlog::core::first_collector_slot).is_attached_to(serial));
    // Not with the number or the mask of its predecessor either.
    constexpr std::array<std::string_view, 1> patterns{"reused_other:second"};
    ASSERT_TRUE(events.set_patterns(patterns));
    EXPECT_FALSE(next->enabled(0));
    EXPECT_EQ(next->emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(next->emit(1), EVENTLOG_ERROR_NONE);
    const auto event = events.try_get();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->provider(), "reused_other");
    EXPECT_EQ(event->name(), "second");
    EXPECT_FALSE(events.try_get());
}

TEST(collector_of_process, times_are_those_of_its_time_namespace) {
    constexpr int no_namespace = 77;
    const int result = eventlog::test::run_in_child([] {
        if (!eventlog::test::make_time_namespace("monotonic 100000 5\nboottime 200000 0\n")) {
            return no_namespace;
        }
        return eventlog::test::run_in_child([] {
            eventlog::collector events({"collect_process:picked"});
            const auto before = std::chrono::steady_clock::now();
            emit_picked(1);
            const auto after = std::chrono::steady_clock::now();
            const auto event = events.try_get();
            // A clock may be read some microseconds apart.
            constexpr std::chrono::microseconds apart(100);
            return event && event->time() + apart >= before && event->time() - apart <= after ? 0
                                                                                              : 1;
        });
    });
    if (result == no_namespace) {
        GTEST_SKIP() << "no time namespace can be created here";
    }
    EXPECT_EQ(result, 0);
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
