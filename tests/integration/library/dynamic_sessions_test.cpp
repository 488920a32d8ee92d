// SPDX-License-Identifier: MIT
//
// Sessions of providers that are defined at run time, through the functions of eventlog.h.
#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.h>
#include <eventlog/eventlog.hpp>

#include "listener.hpp"

namespace {

using eventlog::test::event_listener;
using eventlog::test::received_record;

enum : std::uint32_t { packet, detail, restart, begins, ends, many, broad };

const eventlog_field_definition packet_fields[] = {
    {.name = "bytes", .type = EVENTLOG_TYPE_UNSIGNED_32},
    {.name = "from", .type = EVENTLOG_TYPE_TEXT}};
const eventlog_field_definition number_field[] = {
    {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_32}};
const eventlog_field_definition array_field[] = {
    {.name = "numbers", .type = EVENTLOG_TYPE_UNSIGNED_64, .count = 100}};

/// The maximum number of fields of an event with a session.
std::vector<eventlog_field_definition> make_broad_fields() {
    static std::vector<std::string> names;
    std::vector<eventlog_field_definition> fields;
    names.reserve(99);
    for (std::uint32_t i = 0; i < 99; ++i) {
        names.push_back("field_" + std::to_string(i));
        fields.push_back({.name = names.back().c_str(), .type = EVENTLOG_TYPE_UNSIGNED_8});
    }
    return fields;
}
const std::vector<eventlog_field_definition> broad_fields = make_broad_fields();

/// A provider that is unregistered at the end of the test.
class defined {
  public:
    explicit defined(const char* name, std::uint32_t event_count = 7) {
        const eventlog_event_definition events[] = {
            {.name = "packet", .session_bound = true, .fields = packet_fields, .field_count = 2},
            {.name = "detail",
             .level = EVENTLOG_LEVEL_TRACE,
             .session_bound = true,
             .fields = number_field,
             .field_count = 1},
            {.name = "restart", .fields = number_field, .field_count = 1},
            EVENTLOG_SESSION_BEGIN_EVENT,
            EVENTLOG_SESSION_END_EVENT,
            {.name = "many", .session_bound = true, .fields = array_field, .field_count = 1},
            {.name = "broad",
             .session_bound = true,
             .fields = broad_fields.data(),
             .field_count = 99}};
        const eventlog_definition definition{EVENTLOG_DEFINITION_SIZES, .name = name,
                                             .events = events, .event_count = event_count};
        std::array<char, EVENTLOG_TEXT_SIZE> text{};
        EXPECT_EQ(eventlog_provider_create(&definition, &handle_, text.data(), text.size()),
                  EVENTLOG_ERROR_NONE)
            << text.data();
    }
    ~defined() { eventlog_provider_destroy(handle_); }
    defined(const defined&) = delete;
    defined& operator=(const defined&) = delete;
    [[nodiscard]] eventlog_provider* handle() const { return handle_; }

  private:
    eventlog_provider* handle_ = nullptr;
};

/// Begins a session without error.
eventlog_session begin(const defined& provider, std::uint64_t id) {
    eventlog_session session{};
    EXPECT_EQ(eventlog_session_begin(&session, provider.handle(), id), EVENTLOG_ERROR_NONE);
    return session;
}

eventlog_error emit_packet(const eventlog_session& session, std::string_view from) {
    const eventlog_value values[] = {eventlog_unsigned(7),
                                     eventlog_text_of(from.data(), from.size())};
    return eventlog_session_emit(&session, packet, values, 2);
}

/// Emits every event of a session.
void emit_in(const defined& provider, std::uint64_t id) {
    eventlog_session session = begin(provider, id);
    EXPECT_EQ(emit_packet(session, "here"), EVENTLOG_ERROR_NONE);
    const eventlog_value number = eventlog_unsigned(2);
    EXPECT_EQ(eventlog_session_emit(&session, detail, &number, 1), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(eventlog_emit(provider.handle(), restart, &number, 1), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(eventlog_session_end(&session), EVENTLOG_ERROR_NONE);
}

std::uint64_t session_of(const event_listener& listener, const received_record& record) {
    return std::get<std::uint64_t>(listener.field(record, "session"));
}

TEST(run_time_session, emits_begin_and_end_and_tags_each_event) {
    const defined provider("c_sessions_a");
    event_listener listener("c_sessions_a:*");
    eventlog_session session = begin(provider, 0xfedcba9876543210);
    EXPECT_EQ(emit_packet(session, "here"), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(eventlog_session_end(&session), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(listener.received_names(), "session_begin packet session_end");
    for (const received_record& record : listener.records()) {
        EXPECT_EQ(session_of(listener, record), 0xfedcba9876543210);
    }
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[1], "bytes")), 7U);
    EXPECT_EQ(std::get<std::string_view>(listener.field(listener.records()[1], "from")), "here");
}

TEST(run_time_session, ends_once_and_emits_optional_end_event) {
    const defined provider("c_sessions_b");
    event_listener listener("c_sessions_b:*");
    eventlog_session session = begin(provider, 1);
    EXPECT_TRUE(session.open);
    EXPECT_EQ(eventlog_session_emit_current(&session), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(eventlog_session_end(&session), EVENTLOG_ERROR_NONE);
    EXPECT_FALSE(session.open);
    EXPECT_EQ(eventlog_session_end(&session), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(listener.received_names(), "session_begin session_begin session_end");
}

TEST(run_time_session, can_be_selected_by_id) {
    const defined provider("c_sessions_c");
    event_listener listener(std::vector<std::string>{"c_sessions_c:*"}, {42});
    for (const std::uint64_t id : {41U, 42U, 43U}) {
        emit_in(provider, id);
    }
    EXPECT_EQ(listener.received_names(), "session_begin packet detail session_end");
    for (const received_record& record : listener.records()) {
        EXPECT_EQ(session_of(listener, record), 42U);
    }
}

TEST(run_time_session, can_be_recorded_at_more_verbose_level) {
    const defined provider("c_sessions_d");
    event_listener listener(
        std::vector<std::string>{"c_sessions_d:*@info", "c_sessions_d:*@trace#"}, {42});
    emit_in(provider, 41);
    emit_in(provider, 42);
    EXPECT_EQ(listener.received_names(), "session_begin packet restart session_end "
                                         "session_begin packet detail restart session_end");
}

TEST(run_time_session, is_selected_with_values_exceeding_stack_buffer) {
    const defined provider("c_sessions_e");
    event_listener listener(std::vector<std::string>{"c_sessions_e:*"}, {2});
    std::array<std::uint64_t, 100> numbers{};
    numbers[99] = 5;
    const eventlog_value array =
        eventlog_array(EVENTLOG_TYPE_UNSIGNED_64, numbers.data(), numbers.size());
    std::vector<eventlog_value> values(99, eventlog_unsigned(3));
    for (const std::uint64_t id : {1U, 2U}) {
        const eventlog_session session = begin(provider, id);
        EXPECT_EQ(emit_packet(session, std::string(5000, 'x')), EVENTLOG_ERROR_NONE);
        EXPECT_EQ(eventlog_session_emit(&session, many, &array, 1), EVENTLOG_ERROR_NONE);
        EXPECT_EQ(eventlog_session_emit(&session, broad, values.data(), 99), EVENTLOG_ERROR_NONE);
    }
    EXPECT_EQ(listener.received_names(), "session_begin packet many broad");
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[3], "field_98")), 3U);
}

TEST(run_time_session, reports_whether_enabled) {
    const defined provider("c_sessions_f");
    const eventlog_session session = begin(provider, 1);
    EXPECT_FALSE(eventlog_session_enabled(&session, packet));
    const event_listener listener("c_sessions_f:packet");
    EXPECT_TRUE(eventlog_session_enabled(&session, packet));
    EXPECT_FALSE(eventlog_session_enabled(&session, detail));
    const eventlog_session nothing{};
    EXPECT_FALSE(eventlog_session_enabled(&nothing, packet));
}

TEST(run_time_session, rejects_foreign_events_and_values) {
    const defined provider("c_sessions_g");
    event_listener listener("c_sessions_g:*");
    const eventlog_session session = begin(provider, 1);
    const eventlog_value number = eventlog_unsigned(1);
    EXPECT_EQ(eventlog_session_emit(&session, restart, &number, 1), EVENTLOG_ERROR_SESSION);
    EXPECT_EQ(eventlog_session_emit(&session, 7, &number, 1), EVENTLOG_ERROR_EVENT);
    EXPECT_EQ(eventlog_session_emit(&session, UINT32_MAX, &number, 1), EVENTLOG_ERROR_EVENT);
    EXPECT_EQ(eventlog_session_emit(&session, detail, nullptr, 0), EVENTLOG_ERROR_VALUE_COUNT);
    const std::vector<eventlog_value> values(100, number);
    EXPECT_EQ(eventlog_session_emit(&session, broad, values.data(), 100),
              EVENTLOG_ERROR_VALUE_COUNT);
    const eventlog_value text = eventlog_text("one");
    EXPECT_EQ(eventlog_session_emit(&session, detail, &text, 1), EVENTLOG_ERROR_VALUE_TYPE);
    EXPECT_EQ(eventlog_session_emit(nullptr, detail, &number, 1), EVENTLOG_ERROR_ARGUMENT);
    EXPECT_EQ(listener.received_names(), "session_begin");
}

TEST(run_time_session, without_definition_continues_and_emits_nothing) {
    eventlog_session session{};
    EXPECT_EQ(eventlog_session_begin(&session, nullptr, 3), EVENTLOG_ERROR_NOT_DEFINED);
    EXPECT_EQ(session.id, 3U);
    EXPECT_EQ(emit_packet(session, "nowhere"), EVENTLOG_ERROR_NOT_DEFINED);
    EXPECT_EQ(eventlog_session_end(&session), EVENTLOG_ERROR_NOT_DEFINED);
    EXPECT_EQ(eventlog_session_begin(nullptr, nullptr, 3), EVENTLOG_ERROR_ARGUMENT);
    EXPECT_EQ(eventlog_session_emit_current(nullptr), EVENTLOG_ERROR_ARGUMENT);
    EXPECT_EQ(eventlog_session_end(nullptr), EVENTLOG_ERROR_ARGUMENT);
}

TEST(run_time_session, of_unregistered_provider_reports_error) {
    eventlog_session session{};
    {
        const defined provider("c_sessions_h");
        session = begin(provider, 1);
    }
    EXPECT_EQ(emit_packet(session, "late"), EVENTLOG_ERROR_NOT_DEFINED);
    EXPECT_EQ(eventlog_session_end(&session), EVENTLOG_ERROR_NOT_DEFINED);
}

TEST(run_time_session, of_provider_without_session_events_still_carries_id) {
    const defined provider("c_sessions_i", 3);
    event_listener listener(std::vector<std::string>{"c_sessions_i:*"}, {2});
    for (const std::uint64_t id : {1U, 2U}) {
        eventlog_session session{};
        EXPECT_EQ(eventlog_session_begin(&session, provider.handle(), id), EVENTLOG_ERROR_EVENT);
        EXPECT_EQ(emit_packet(session, "here"), EVENTLOG_ERROR_NONE);
        EXPECT_EQ(eventlog_session_end(&session), EVENTLOG_ERROR_EVENT);
    }
    EXPECT_EQ(listener.received_names(), "packet");
    EXPECT_EQ(session_of(listener, listener.records()[0]), 2U);
}

TEST(run_time_session, preserves_errno) {
    const defined provider("c_sessions_j");
    const event_listener listener("c_sessions_j:*");
    errno = 77;
    emit_in(provider, 1);
    EXPECT_EQ(errno, 77);
}

}  // namespace
