// SPDX-License-Identifier: MIT
//
// Sessions, spans and counters, as a listener receives them.
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"

namespace {

using eventlog::test::event_listener;
using eventlog::test::received_record;

struct packet {
    std::uint32_t bytes;
    std::string_view from;
};
struct detail {
    std::uint32_t number;
};
struct restart {
    std::uint32_t reason;
};
struct query_begin {
    std::string_view sql;
};
struct query_end {
    std::chrono::nanoseconds took;
    std::uint32_t rows;
};
struct transfer_begin {
    std::string_view file;
};
struct transfer_end {
    std::chrono::nanoseconds took;
    std::uint32_t bytes;
};
struct queue_length {
    std::int64_t requests;
};
struct in_flight {
    std::uint32_t bytes;
};
using net = eventlog::provider<"sessions_test", packet, detail, restart>;
using ftp = eventlog::provider<"session_spans_test", transfer_begin, transfer_end, in_flight>;
using database = eventlog::provider<"spans_test", query_begin, query_end, queue_length>;

}  // namespace

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<packet>{.session_bound = true};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<detail>{
    .level = eventlog::level::trace, .session_bound = true};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<query_begin>{
    .kind = eventlog::kind::begin};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<query_end>{.kind =
                                                                             eventlog::kind::end};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<transfer_begin>{
    .kind = eventlog::kind::begin, .session_bound = true};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<transfer_end>{
    .kind = eventlog::kind::end, .session_bound = true};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<queue_length>{
    .kind = eventlog::kind::gauge};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<in_flight>{
    .kind = eventlog::kind::gauge, .session_bound = true};

namespace {

using connection = eventlog::session<net>;

std::uint64_t session_of(const event_listener& listener, const received_record& record) {
    return std::get<std::uint64_t>(listener.field(record, "session"));
}

TEST(session, emits_begin_and_end_and_tags_each_event) {
    event_listener listener("sessions_test:*");
    {
        const connection one(0xfedcba9876543210);
        one.emit(packet{7, "here"});
    }
    EXPECT_EQ(listener.received_names(), "session_begin packet session_end");
    for (const received_record& record : listener.records()) {
        EXPECT_EQ(session_of(listener, record), 0xfedcba9876543210);
    }
    EXPECT_EQ(std::get<std::string_view>(listener.field(listener.records()[1], "from")), "here");
}

TEST(session, builds_lazy_event_only_when_enabled) {
    unsigned made = 0;
    const connection one(5);
    const auto make = [&] { return packet{++made, "there"}; };
    one.emit_lazily(make);
    EXPECT_EQ(made, 0U);
    event_listener listener("sessions_test:packet");
    one.emit_lazily(make);
    EXPECT_EQ(made, 1U);
    ASSERT_EQ(listener.received_names(), "packet");
    EXPECT_EQ(session_of(listener, listener.records()[0]), 5U);
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[0], "bytes")), 1U);
    EXPECT_EQ(std::get<std::string_view>(listener.field(listener.records()[0], "from")), "there");
}

TEST(session, is_noexcept_if_event_construction_is) {
    const connection one(6);
    EXPECT_TRUE(noexcept(one.emit_lazily([]() noexcept { return packet{}; })));
    EXPECT_FALSE(noexcept(one.emit_lazily([] { return packet{}; })));
}

TEST(session, ends_once_after_repeated_moves_and_ends) {
    event_listener listener("sessions_test:*");
    {
        connection one(1);
        connection two(std::move(one));
        connection three(3);
        three = std::move(two);
        three.end();
        three.end();
    }
    EXPECT_EQ(listener.received_names(), "session_begin session_begin session_end session_end");
    EXPECT_EQ(session_of(listener, listener.records()[2]), 3U);
    EXPECT_EQ(session_of(listener, listener.records()[3]), 1U);
}

void emit_in(std::uint64_t id) {
    const connection one(id);
    one.emit(packet{1, ""});
    one.emit(detail{2});
    net::emit(restart{3});
}

TEST(session, can_be_selected_by_id) {
    event_listener listener(std::vector<std::string>{"sessions_test:*"}, {42, 44});
    for (const std::uint64_t id : {41U, 42U, 43U, 44U}) {
        emit_in(id);
    }
    EXPECT_EQ(listener.received_names(),
              "session_begin packet detail session_end session_begin packet detail session_end");
    EXPECT_EQ(session_of(listener, listener.records()[0]), 42U);
    EXPECT_EQ(session_of(listener, listener.records()[7]), 44U);
}

TEST(session, can_be_recorded_at_more_verbose_level) {
    event_listener listener(
        std::vector<std::string>{"sessions_test:*@info", "sessions_test:*@trace#"}, {42});
    emit_in(41);
    emit_in(42);
    EXPECT_EQ(listener.received_names(), "session_begin packet restart session_end "
                                         "session_begin packet detail restart session_end");
}

TEST(session, selected_by_one_listener_is_complete_for_another) {
    event_listener all("sessions_test:packet");
    event_listener picky(std::vector<std::string>{"sessions_test:packet"}, {2});
    emit_in(1);
    emit_in(2);
    EXPECT_EQ(all.received_names(), "packet packet");
    EXPECT_EQ(picky.received_names(), "packet");
}

TEST(session, with_texts_exceeding_stack_buffer_is_selected) {
    event_listener picky(std::vector<std::string>{"sessions_test:packet"}, {2});
    const std::string text(5000, 'x');
    connection(1).emit(packet{1, text});
    connection(2).emit(packet{1, text});
    EXPECT_EQ(picky.received_names(), "packet");
}

TEST(span, emits_begin_and_end_with_its_duration) {
    event_listener listener("spans_test:query_*");
    const auto before = std::chrono::steady_clock::now();
    {
        eventlog::span<database, query_begin, query_end> span(query_begin{"select 1"});
        span.result().rows = 12;
    }
    const auto all = std::chrono::steady_clock::now() - before;
    EXPECT_EQ(listener.received_names(), "query_begin query_end");
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[1], "rows")), 12U);
    const auto took = std::get<std::int64_t>(listener.field(listener.records()[1], "took"));
    EXPECT_GT(took, 0);
    EXPECT_LE(took, std::chrono::nanoseconds(all).count());
}

TEST(span, enabled_after_begin_ends_with_zero_duration) {
    std::optional<event_listener> listener;
    {
        eventlog::span<database, query_begin, query_end> span(query_begin{"select 1"});
        listener.emplace("spans_test:query_*");
    }
    EXPECT_EQ(listener->received_names(), "query_end");
    EXPECT_EQ(std::get<std::int64_t>(listener->field(listener->records()[0], "took")), 0);
}

using transfer = eventlog::span<ftp, transfer_begin, transfer_end>;

TEST(span, of_session_carries_session_id_in_begin_and_end) {
    event_listener listener("session_spans_test:transfer_*");
    {
        const eventlog::session<ftp> client(0xfedcba9876543210);
        transfer span(client, transfer_begin{"motd"});
        span.result().bytes = 12;
    }
    EXPECT_EQ(listener.received_names(), "transfer_begin transfer_end");
    for (const received_record& record : listener.records()) {
        EXPECT_EQ(session_of(listener, record), 0xfedcba9876543210);
    }
    EXPECT_EQ(std::get<std::string_view>(listener.field(listener.records()[0], "file")), "motd");
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[1], "bytes")), 12U);
    EXPECT_GT(std::get<std::int64_t>(listener.field(listener.records()[1], "took")), 0);
}

TEST(span, of_session_is_selected_by_session_id) {
    event_listener listener(std::vector<std::string>{"session_spans_test:*"}, {42});
    for (const std::uint64_t id : {41U, 42U, 43U}) {
        const eventlog::session<ftp> client(id);
        const transfer span(client, transfer_begin{"motd"});
    }
    EXPECT_EQ(listener.received_names(), "session_begin transfer_begin transfer_end session_end");
    for (const received_record& record : listener.records()) {
        EXPECT_EQ(session_of(listener, record), 42U);
    }
}

TEST(span, outlives_session_and_keeps_session_id) {
    event_listener listener("session_spans_test:*");
    {
        eventlog::session<ftp> client(7);
        const transfer span(client, transfer_begin{"motd"});
        client.end();
    }
    EXPECT_EQ(listener.received_names(), "session_begin transfer_begin session_end transfer_end");
    EXPECT_EQ(session_of(listener, listener.records()[3]), 7U);
}

TEST(counter, emits_each_new_value) {
    event_listener listener("spans_test:queue_length");
    eventlog::counter<database, queue_length> queue(5);
    queue.add(2);
    queue.add(-3);
    queue.set(100);
    queue.emit_current();
    EXPECT_EQ(listener.received_names(), "queue_length queue_length queue_length queue_length");
    const std::int64_t expected[] = {7, 4, 100, 100};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(std::get<std::int64_t>(listener.field(listener.records()[i], "requests")),
                  expected[i]);
    }
    EXPECT_EQ(queue.value(), 100);
}

TEST(counter, wraps_from_maximum_to_minimum) {
    using limits = std::numeric_limits<std::int64_t>;
    event_listener listener("spans_test:queue_length");
    eventlog::counter<database, queue_length> queue(limits::max());
    queue.add(2);
    queue.add(-2);
    ASSERT_EQ(listener.received_names(), "queue_length queue_length");
    const std::int64_t expected[] = {limits::min() + 1, limits::max()};
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(std::get<std::int64_t>(listener.field(listener.records()[i], "requests")),
                  expected[i]);
    }
    EXPECT_EQ(queue.value(), limits::max());
}

TEST(counter, of_session_carries_session_id_and_is_selected_by_it) {
    event_listener listener(std::vector<std::string>{"session_spans_test:in_flight"}, {42});
    for (const std::uint64_t id : {41U, 42U, 43U}) {
        const eventlog::session<ftp> client(id);
        eventlog::counter<ftp, in_flight> bytes(client, 1000);
        bytes.add(448);
        bytes.set(7);
        bytes.emit_current();
    }
    ASSERT_EQ(listener.received_names(), "in_flight in_flight in_flight");
    const std::uint64_t expected[] = {1448, 7, 7};
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(session_of(listener, listener.records()[i]), 42U);
        EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[i], "bytes")),
                  expected[i]);
    }
}

TEST(counter, of_session_starts_at_zero_and_outlives_session) {
    event_listener listener("session_spans_test:in_flight");
    eventlog::session<ftp> client(0xfedcba9876543210);
    eventlog::counter<ftp, in_flight> bytes(client);
    client.end();
    bytes.add(5);
    ASSERT_EQ(listener.received_names(), "in_flight");
    EXPECT_EQ(session_of(listener, listener.records()[0]), 0xfedcba9876543210);
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[0], "bytes")), 5U);
}

}  // namespace
