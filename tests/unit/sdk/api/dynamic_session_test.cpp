// SPDX-License-Identifier: MIT
//
// Sessions of providers that are defined at run time, in C++.
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/dynamic_session.hpp>

#include "listener.hpp"

namespace {

using eventlog::dynamic_provider;
using eventlog::dynamic_session;
using eventlog::test::event_listener;
using eventlog::test::received_record;

enum : std::uint32_t { packet, restart, begins, ends };

const eventlog_field_definition packet_fields[] = {
    {.name = "bytes", .type = EVENTLOG_TYPE_UNSIGNED_32},
    {.name = "from", .type = EVENTLOG_TYPE_TEXT}};
const eventlog_event_definition events[] = {
    {.name = "packet", .session_bound = true, .fields = packet_fields, .field_count = 2},
    {.name = "restart"},
    EVENTLOG_SESSION_BEGIN_EVENT,
    EVENTLOG_SESSION_END_EVENT};
constexpr eventlog_definition definition{EVENTLOG_DEFINITION_SIZES, .name = "dynamic_sessions",
                                         .events = events, .event_count = 4};

std::uint64_t session_of(const event_listener& listener, const received_record& record) {
    return std::get<std::uint64_t>(listener.field(record, "session"));
}

TEST(dynamic_session, emits_begin_and_end_and_tags_each_event) {
    const dynamic_provider provider(definition);
    event_listener listener("dynamic_sessions:*");
    {
        const dynamic_session one(provider, 0xfedcba9876543210);
        EXPECT_EQ(one.error(), EVENTLOG_ERROR_NONE);
        EXPECT_EQ(one.id(), 0xfedcba9876543210);
        EXPECT_EQ(one.emit(packet, 7, "here"), EVENTLOG_ERROR_NONE);
    }
    ASSERT_EQ(listener.received_names(), "session_begin packet session_end");
    for (const received_record& record : listener.records()) {
        EXPECT_EQ(session_of(listener, record), 0xfedcba9876543210);
    }
    EXPECT_EQ(std::get<std::string_view>(listener.field(listener.records()[1], "from")), "here");
}

TEST(dynamic_session, ends_once_after_repeated_moves_and_ends) {
    const dynamic_provider provider(definition);
    event_listener listener("dynamic_sessions:*");
    {
        dynamic_session one(provider, 1);
        dynamic_session two(std::move(one));
        dynamic_session three(provider, 3);
        three = std::move(two);
        EXPECT_EQ(three.id(), 1U);
        EXPECT_EQ(three.emit_current(), EVENTLOG_ERROR_NONE);
        EXPECT_EQ(three.end(), EVENTLOG_ERROR_NONE);
        EXPECT_EQ(three.end(), EVENTLOG_ERROR_NONE);
    }
    ASSERT_EQ(listener.received_names(),
              "session_begin session_begin session_end session_begin session_end");
    EXPECT_EQ(session_of(listener, listener.records()[2]), 3U);
    EXPECT_EQ(session_of(listener, listener.records()[4]), 1U);
}

TEST(dynamic_session, can_be_selected_by_id) {
    const dynamic_provider provider(definition);
    event_listener listener(std::vector<std::string>{"dynamic_sessions:*"}, {42});
    for (const std::uint64_t id : {41U, 42U, 43U}) {
        const dynamic_session one(provider, id);
        EXPECT_EQ(one.emit(packet, id, "here"), EVENTLOG_ERROR_NONE);
    }
    ASSERT_EQ(listener.received_names(), "session_begin packet session_end");
    EXPECT_EQ(session_of(listener, listener.records()[1]), 42U);
}

TEST(dynamic_session, builds_lazy_values_only_when_enabled) {
    const dynamic_provider provider(definition);
    const dynamic_session one(provider, 5);
    unsigned made = 0;
    const auto make = [&] { return std::tuple(++made, std::string("there")); };
    EXPECT_FALSE(one.enabled(packet));
    EXPECT_EQ(one.emit(packet, make), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(made, 0U);
    event_listener listener("dynamic_sessions:packet");
    EXPECT_TRUE(one.enabled(packet));
    EXPECT_EQ(one.emit(packet, make), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(made, 1U);
    ASSERT_EQ(listener.received_names(), "packet");
    EXPECT_EQ(session_of(listener, listener.records()[0]), 5U);
    EXPECT_EQ(std::get<std::string_view>(listener.field(listener.records()[0], "from")), "there");
}

TEST(dynamic_session, rejects_foreign_events_and_values) {
    const dynamic_provider provider(definition);
    const dynamic_session one(provider, 5);
    EXPECT_EQ(one.emit(restart), EVENTLOG_ERROR_SESSION);
    EXPECT_EQ(one.emit(4), EVENTLOG_ERROR_EVENT);
    EXPECT_EQ(one.emit(packet, 7), EVENTLOG_ERROR_VALUE_COUNT);
    EXPECT_EQ(one.emit(packet, "seven", "here"), EVENTLOG_ERROR_VALUE_TYPE);
}

TEST(dynamic_session, of_provider_without_session_events_reports_and_works) {
    eventlog_definition shorter = definition;
    shorter.event_count = 2;
    const dynamic_provider provider(shorter);
    event_listener listener("dynamic_sessions:*");
    dynamic_session one(provider, 6);
    EXPECT_EQ(one.error(), EVENTLOG_ERROR_EVENT);
    EXPECT_EQ(one.emit(packet, 7, "here"), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(one.end(), EVENTLOG_ERROR_EVENT);
    ASSERT_EQ(listener.received_names(), "packet");
    EXPECT_EQ(session_of(listener, listener.records()[0]), 6U);
}

}  // namespace
