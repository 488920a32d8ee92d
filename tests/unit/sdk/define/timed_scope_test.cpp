// SPDX-License-Identifier: MIT
//
// Timed scopes in C: the event, its duration, and the misuse that is reported.
#include <unistd.h>

#include <array>
#include <cstdint>
#include <variant>

#include <gtest/gtest.h>

#include <eventlog/eventlog.h>

#include "listener.hpp"

namespace {

using eventlog::test::event_listener;

enum : std::uint32_t { query, request, plain, bare, begins, ends };

const eventlog_field_definition query_fields[] = {
    EVENTLOG_DURATION_FIELD, {.name = "rows", .type = EVENTLOG_TYPE_UNSIGNED_32}};
const eventlog_event_definition events[] = {
    {.name = "query", .kind = EVENTLOG_KIND_END, .fields = query_fields, .field_count = 2},
    {.name = "request",
     .kind = EVENTLOG_KIND_END,
     .session_bound = true,
     .fields = query_fields,
     .field_count = 2},
    {.name = "plain", .fields = query_fields + 1, .field_count = 1},
    {.name = "bare", .kind = EVENTLOG_KIND_END},
    EVENTLOG_SESSION_BEGIN_EVENT,
    EVENTLOG_SESSION_END_EVENT};
constexpr eventlog_definition definition{EVENTLOG_DEFINITION_SIZES, .name = "timed_in_c",
                                         .events = events, .event_count = 6};

class timed_scope_in_c : public testing::Test {
  protected:
    void SetUp() override {
        EXPECT_EQ(eventlog_provider_create(&definition, &provider, nullptr, 0),
                  EVENTLOG_ERROR_NONE);
    }
    void TearDown() override { eventlog_provider_destroy(provider); }

    [[nodiscard]] eventlog_timed_scope begin(std::uint32_t event) const {
        eventlog_timed_scope scope{};
        eventlog_timed_scope_begin(&scope, provider, event);
        return scope;
    }
    static std::int64_t duration_of(const event_listener& listener, std::size_t record) {
        return std::get<std::int64_t>(listener.field(listener.records().at(record), "duration"));
    }

    eventlog_provider* provider = nullptr;
    std::array<eventlog_value, 1> rows{eventlog_unsigned(7)};
};

TEST_F(timed_scope_in_c, emits_one_event_with_its_duration) {
    event_listener listener("timed_in_c:*");
    const std::int64_t before = eventlog_monotonic_time();
    eventlog_timed_scope scope = begin(query);
    EXPECT_TRUE(eventlog_timed_scope_is_measured(&scope));
    ::usleep(1000);
    EXPECT_EQ(eventlog_timed_scope_end(&scope, rows.data(), 1), EVENTLOG_ERROR_NONE);
    const std::int64_t around = eventlog_monotonic_time() - before;
    EXPECT_EQ(eventlog_timed_scope_end(&scope, rows.data(), 1), EVENTLOG_ERROR_NONE);
    ASSERT_EQ(listener.received_names(), "query");
    EXPECT_GE(duration_of(listener, 0), 1'000'000);
    EXPECT_LE(duration_of(listener, 0), around);
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[0], "rows")), 7U);
}

TEST_F(timed_scope_in_c, without_listener_at_the_begin_emits_nothing) {
    eventlog_timed_scope scope = begin(query);
    EXPECT_FALSE(eventlog_timed_scope_is_measured(&scope));
    EXPECT_EQ(scope.began, 0);
    event_listener listener("timed_in_c:*");
    EXPECT_EQ(eventlog_timed_scope_end(&scope, rows.data(), 1), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(listener.received_names(), "");
}

TEST_F(timed_scope_in_c, that_is_cancelled_emits_nothing) {
    event_listener listener("timed_in_c:*");
    eventlog_timed_scope scope = begin(query);
    eventlog_timed_scope_cancel(&scope);
    EXPECT_FALSE(eventlog_timed_scope_is_measured(&scope));
    EXPECT_EQ(eventlog_timed_scope_end(&scope, rows.data(), 1), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(listener.received_names(), "");
}

TEST_F(timed_scope_in_c, that_is_stopped_does_not_measure_its_values) {
    event_listener listener("timed_in_c:*");
    eventlog_timed_scope scope = begin(query);
    eventlog_timed_scope_stop(&scope);
    const std::int64_t measured = scope.stopped - scope.began;
    ::usleep(1000);
    eventlog_timed_scope_stop(&scope);
    EXPECT_EQ(eventlog_timed_scope_end(&scope, rows.data(), 1), EVENTLOG_ERROR_NONE);
    ASSERT_EQ(listener.received_names(), "query");
    EXPECT_EQ(duration_of(listener, 0), measured);
}

TEST_F(timed_scope_in_c, in_a_session_has_its_number) {
    event_listener listener("timed_in_c:request");
    eventlog_session session{};
    EXPECT_EQ(eventlog_session_begin(&session, provider, 4711), EVENTLOG_ERROR_NONE);
    eventlog_timed_scope scope{};
    eventlog_timed_scope_begin_in_session(&scope, &session, request);
    EXPECT_EQ(eventlog_session_end(&session), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(eventlog_timed_scope_end(&scope, rows.data(), 1), EVENTLOG_ERROR_NONE);
    ASSERT_EQ(listener.received_names(), "request");
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[0], "session")), 4711U);
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[0], "rows")), 7U);
    EXPECT_GE(duration_of(listener, 0), 0);
}

TEST_F(timed_scope_in_c, reports_misuse_and_ends) {
    event_listener listener("timed_in_c:*");
    eventlog_timed_scope scope = begin(request);
    EXPECT_EQ(eventlog_timed_scope_end(&scope, rows.data(), 1), EVENTLOG_ERROR_SESSION);
    EXPECT_FALSE(eventlog_timed_scope_is_measured(&scope));

    const eventlog_session session{provider, 1, true};
    eventlog_timed_scope_begin_in_session(&scope, &session, query);
    EXPECT_EQ(eventlog_timed_scope_end(&scope, rows.data(), 1), EVENTLOG_ERROR_SESSION);

    scope = begin(plain);
    EXPECT_EQ(eventlog_timed_scope_end(&scope, nullptr, 0), EVENTLOG_ERROR_VALUE_TYPE);
    scope = begin(bare);
    EXPECT_EQ(eventlog_timed_scope_end(&scope, nullptr, 0), EVENTLOG_ERROR_VALUE_TYPE);
    scope = begin(query);
    EXPECT_EQ(eventlog_timed_scope_end(&scope, nullptr, 0), EVENTLOG_ERROR_VALUE_COUNT);
    EXPECT_EQ(eventlog_timed_scope_emit(nullptr, nullptr, 0), EVENTLOG_ERROR_ARGUMENT);
    EXPECT_EQ(listener.received_names(), "");
}

TEST_F(timed_scope_in_c, with_too_many_values_is_rejected) {
    event_listener listener("timed_in_c:*");
    const std::array<eventlog_value, 101> many{};
    for (const std::size_t count : {std::size_t{15}, std::size_t{99}, many.size()}) {
        eventlog_timed_scope scope = begin(query);
        EXPECT_EQ(eventlog_timed_scope_end(&scope, many.data(), count), EVENTLOG_ERROR_VALUE_COUNT);
    }
    EXPECT_EQ(listener.received_names(), "");
}

}  // namespace
