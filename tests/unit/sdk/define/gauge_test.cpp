// SPDX-License-Identifier: MIT
//
// Gauges in C: the events of their changes, and the misuse that is reported.
#include <cstdint>
#include <limits>
#include <thread>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.h>

#include "listener.hpp"

namespace {

using eventlog::test::event_listener;

enum : std::uint32_t { queue_length, in_flight, free_places, two_numbers, begins, ends };

const eventlog_field_definition numbers[] = {{.name = "number", .type = EVENTLOG_TYPE_SIGNED_64},
                                             {.name = "other", .type = EVENTLOG_TYPE_SIGNED_64}};
const eventlog_field_definition places = {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_8};
const eventlog_event_definition events[] = {
    {.name = "queue_length", .kind = EVENTLOG_KIND_GAUGE, .fields = numbers, .field_count = 1},
    {.name = "in_flight",
     .kind = EVENTLOG_KIND_GAUGE,
     .session_bound = true,
     .fields = numbers,
     .field_count = 1},
    {.name = "free_places", .kind = EVENTLOG_KIND_GAUGE, .fields = &places, .field_count = 1},
    {.name = "two_numbers", .kind = EVENTLOG_KIND_GAUGE, .fields = numbers, .field_count = 2},
    EVENTLOG_SESSION_BEGIN_EVENT,
    EVENTLOG_SESSION_END_EVENT};
constexpr eventlog_definition definition{EVENTLOG_DEFINITION_SIZES, .name = "gauge_in_c",
                                         .events = events, .event_count = 6};

class gauge_in_c : public testing::Test {
  protected:
    void SetUp() override {
        EXPECT_EQ(eventlog_provider_create(&definition, &provider, nullptr, 0),
                  EVENTLOG_ERROR_NONE);
    }
    void TearDown() override { eventlog_provider_destroy(provider); }

    [[nodiscard]] eventlog_gauge make_gauge(std::uint32_t event, std::int64_t number = 0) const {
        eventlog_gauge gauge{};
        eventlog_gauge_init(&gauge, provider, event, number);
        return gauge;
    }
    /// Ends the subscription.
    static std::vector<std::int64_t> numbers_in(event_listener& listener) {
        listener.finish();
        std::vector<std::int64_t> found;
        for (const auto& record : listener.records()) {
            found.push_back(std::get<std::int64_t>(listener.field(record, "number")));
        }
        return found;
    }

    eventlog_provider* provider = nullptr;
};

TEST_F(gauge_in_c, emits_each_new_number) {
    event_listener listener("gauge_in_c:queue_length");
    eventlog_gauge gauge = make_gauge(queue_length, 5);
    EXPECT_EQ(eventlog_gauge_value(&gauge), 5);
    EXPECT_EQ(eventlog_gauge_add(&gauge, 2), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(eventlog_gauge_add(&gauge, -10), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(eventlog_gauge_set(&gauge, 4), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(eventlog_gauge_set(&gauge, 4), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(eventlog_gauge_value(&gauge), 4);
    EXPECT_EQ(eventlog_gauge_emit_current(&gauge), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(numbers_in(listener), (std::vector<std::int64_t>{7, -3, 4, 4, 4}));
}

TEST_F(gauge_in_c, changes_without_listener) {
    eventlog_gauge gauge = make_gauge(queue_length);
    EXPECT_EQ(eventlog_gauge_add(&gauge, 3), EVENTLOG_ERROR_NONE);
    event_listener listener("gauge_in_c:queue_length");
    EXPECT_EQ(eventlog_gauge_add(&gauge, 1), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(numbers_in(listener), (std::vector<std::int64_t>{4}));
}

TEST_F(gauge_in_c, without_provider_only_counts) {
    eventlog_gauge gauge{};
    EXPECT_EQ(eventlog_gauge_add(&gauge, 3), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(eventlog_gauge_set(&gauge, 8), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(eventlog_gauge_value(&gauge), 8);
    EXPECT_EQ(eventlog_gauge_emit_current(&gauge), EVENTLOG_ERROR_NOT_DEFINED);
}

TEST_F(gauge_in_c, wraps_around) {
    event_listener listener("gauge_in_c:queue_length");
    eventlog_gauge gauge = make_gauge(queue_length, std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(eventlog_gauge_add(&gauge, 1), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(numbers_in(listener),
              (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()}));
}

TEST_F(gauge_in_c, in_a_session_has_its_number) {
    event_listener listener("gauge_in_c:in_flight");
    eventlog_session session{};
    EXPECT_EQ(eventlog_session_begin(&session, provider, 4711), EVENTLOG_ERROR_NONE);
    eventlog_gauge gauge{};
    eventlog_gauge_init_in_session(&gauge, &session, in_flight, 1);
    EXPECT_EQ(eventlog_session_end(&session), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(eventlog_gauge_add(&gauge, 1), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(numbers_in(listener), (std::vector<std::int64_t>{2}));
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[0], "session")), 4711U);
}

TEST_F(gauge_in_c, reports_misuse_and_changes) {
    event_listener listener("gauge_in_c:*");
    eventlog_gauge gauge = make_gauge(in_flight);
    EXPECT_EQ(eventlog_gauge_add(&gauge, 1), EVENTLOG_ERROR_VALUE_COUNT);
    EXPECT_EQ(eventlog_gauge_value(&gauge), 1);
    gauge = make_gauge(two_numbers);
    EXPECT_EQ(eventlog_gauge_set(&gauge, 1), EVENTLOG_ERROR_VALUE_COUNT);
    gauge = make_gauge(free_places);
    EXPECT_EQ(eventlog_gauge_add(&gauge, -1), EVENTLOG_ERROR_VALUE_RANGE);
    EXPECT_EQ(eventlog_gauge_value(&gauge), -1);
    const eventlog_session session{provider, 1, true};
    eventlog_gauge_init_in_session(&gauge, &session, queue_length, 0);
    EXPECT_EQ(eventlog_gauge_add(&gauge, 1), EVENTLOG_ERROR_SESSION);
    EXPECT_EQ(listener.received_names(), "");
}

TEST_F(gauge_in_c, checks_current_number_without_listener) {
    const eventlog_gauge gauge = make_gauge(free_places, 256);
    EXPECT_EQ(eventlog_gauge_emit_current(&gauge), EVENTLOG_ERROR_VALUE_RANGE);
    EXPECT_EQ(eventlog_gauge_emit(&gauge, 255), EVENTLOG_ERROR_NONE);
}

TEST_F(gauge_in_c, adds_in_several_threads) {
    constexpr std::int64_t changes = 10'000;
    eventlog_gauge gauge = make_gauge(queue_length);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&gauge] {
            for (std::int64_t change = 0; change < changes; ++change) {
                static_cast<void>(eventlog_gauge_add(&gauge, 1));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(eventlog_gauge_value(&gauge), 3 * changes);
}

}  // namespace
