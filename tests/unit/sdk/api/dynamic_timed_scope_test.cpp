// SPDX-License-Identifier: MIT
//
// Timed scopes of providers that are defined at run time, in C++.
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>
#include <eventlog/dynamic_session.hpp>

#include "listener.hpp"

namespace {

using eventlog::dynamic_provider;
using eventlog::dynamic_session;
using eventlog::test::event_listener;

enum : std::uint32_t { query, statement, request, begins, ends };

const eventlog_field_definition fields[] = {EVENTLOG_DURATION_FIELD,
                                            {.name = "rows", .type = EVENTLOG_TYPE_UNSIGNED_32},
                                            {.name = "sql", .type = EVENTLOG_TYPE_TEXT}};
const eventlog_event_definition events[] = {
    {.name = "query", .kind = EVENTLOG_KIND_END, .fields = fields, .field_count = 2},
    {.name = "statement", .kind = EVENTLOG_KIND_END, .fields = fields, .field_count = 3},
    {.name = "request",
     .kind = EVENTLOG_KIND_END,
     .session_bound = true,
     .fields = fields,
     .field_count = 1},
    EVENTLOG_SESSION_BEGIN_EVENT,
    EVENTLOG_SESSION_END_EVENT};
constexpr eventlog_definition definition{EVENTLOG_DEFINITION_SIZES, .name = "dynamic_timed",
                                         .events = events, .event_count = 5};

TEST(dynamic_timed_scope, emits_values_that_were_filled_in) {
    const dynamic_provider provider(definition);
    event_listener listener("dynamic_timed:*");
    {
        auto scope = provider.time(query, std::uint32_t{0});
        std::get<0>(scope.values()) = 7;
    }
    ASSERT_EQ(listener.received_names(), "query");
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[0], "rows")), 7U);
    EXPECT_GE(std::get<std::int64_t>(listener.field(listener.records()[0], "duration")), 0);
}

TEST(dynamic_timed_scope, calls_its_callable_at_the_end_if_there_was_a_listener) {
    const dynamic_provider provider(definition);
    unsigned called = 0;
    std::string sql = "insert";
    const auto make = [&] {
        ++called;
        return std::tuple(std::uint32_t{3}, std::string_view(sql));
    };
    { const auto unheard = provider.time(statement, make); }
    EXPECT_EQ(called, 0U);
    event_listener listener("dynamic_timed:*");
    {
        const auto scope = provider.time(statement, make);
        EXPECT_EQ(called, 0U);
        sql = "select";
    }
    EXPECT_EQ(called, 1U);
    ASSERT_EQ(listener.received_names(), "statement");
    EXPECT_EQ(std::get<std::string_view>(listener.field(listener.records()[0], "sql")), "select");
}

TEST(dynamic_timed_scope, ends_once_after_moves_ends_and_cancels) {
    const dynamic_provider provider(definition);
    event_listener listener("dynamic_timed:*");
    {
        auto first = provider.time(query, std::uint32_t{1});
        auto second = std::move(first);
        EXPECT_EQ(second.end(), EVENTLOG_ERROR_NONE);
        EXPECT_EQ(second.end(), EVENTLOG_ERROR_NONE);
        provider.time(query, std::uint32_t{2}).cancel();
    }
    ASSERT_EQ(listener.received_names(), "query");
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[0], "rows")), 1U);
}

TEST(dynamic_timed_scope, keeps_the_number_of_its_session) {
    const dynamic_provider provider(definition);
    event_listener listener("dynamic_timed:request");
    {
        dynamic_session session(provider, 42);
        const auto scope = session.time(request);
        EXPECT_EQ(session.end(), EVENTLOG_ERROR_NONE);
    }
    ASSERT_EQ(listener.received_names(), "request");
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[0], "session")), 42U);
}

TEST(dynamic_timed_scope, reports_errors_at_the_end) {
    const dynamic_provider provider(definition);
    event_listener listener("dynamic_timed:*");
    EXPECT_EQ(provider.time(query).end(), EVENTLOG_ERROR_VALUE_COUNT);
    EXPECT_EQ(provider.time(request).end(), EVENTLOG_ERROR_SESSION);
    EXPECT_EQ(provider.time(query, true).end(), EVENTLOG_ERROR_VALUE_TYPE);
    EXPECT_EQ(listener.received_names(), "");
}

}  // namespace
