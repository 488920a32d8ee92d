// SPDX-License-Identifier: MIT
//
// Sessions, spans and counters, as a listener hears them.
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

using eventlog::test::heard_record;
using eventlog::test::listener;

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
inline constexpr eventlog::event_traits eventlog::traits_of<packet>{.session_bound = true};
template <>
inline constexpr eventlog::event_traits eventlog::traits_of<detail>{.level = eventlog::level::trace,
                                                                    .session_bound = true};
template <>
inline constexpr eventlog::event_traits eventlog::traits_of<query_begin>{.kind =
                                                                             eventlog::kind::begin};
template <>
inline constexpr eventlog::event_traits eventlog::traits_of<query_end>{.kind = eventlog::kind::end};
template <>
inline constexpr eventlog::event_traits eventlog::traits_of<transfer_begin>{
    .kind = eventlog::kind::begin, .session_bound = true};
template <>
inline constexpr eventlog::event_traits eventlog::traits_of<transfer_end>{
    .kind = eventlog::kind::end, .session_bound = true};
template <>
inline constexpr eventlog::event_traits eventlog::traits_of<queue_length>{
    .kind = eventlog::kind::counter};
template <>
inline constexpr eventlog::event_traits eventlog::traits_of<in_flight>{
    .kind = eventlog::kind::counter, .session_bound = true};

namespace {

using connection = eventlog::session<net>;

std::uint64_t session_of(const listener& ears, const heard_record& record) {
    return std::get<std::uint64_t>(ears.field(record, "session"));
}

TEST(session, begins_and_ends_and_names_itself_in_each_event) {
    listener ears("sessions_test:*");
    {
        const connection one(0xfedcba9876543210);
        one.emit(packet{7, "here"});
    }
    EXPECT_EQ(ears.heard_names(), "session_begin packet session_end");
    for (const heard_record& record : ears.records()) {
        EXPECT_EQ(session_of(ears, record), 0xfedcba9876543210);
    }
    EXPECT_EQ(std::get<std::string_view>(ears.field(ears.records()[1], "from")), "here");
}

TEST(session, makes_a_lazy_event_only_if_somebody_listens) {
    unsigned made = 0;
    const connection one(5);
    const auto make = [&] { return packet{++made, "there"}; };
    one.emit_lazily(make);
    EXPECT_EQ(made, 0U);
    listener ears("sessions_test:packet");
    one.emit_lazily(make);
    EXPECT_EQ(made, 1U);
    ASSERT_EQ(ears.heard_names(), "packet");
    EXPECT_EQ(session_of(ears, ears.records()[0]), 5U);
    EXPECT_EQ(std::get<std::uint64_t>(ears.field(ears.records()[0], "bytes")), 1U);
    EXPECT_EQ(std::get<std::string_view>(ears.field(ears.records()[0], "from")), "there");
}

TEST(session, says_whether_making_an_event_can_throw) {
    const connection one(6);
    EXPECT_TRUE(noexcept(one.emit_lazily([]() noexcept { return packet{}; })));
    EXPECT_FALSE(noexcept(one.emit_lazily([] { return packet{}; })));
}

TEST(session, ends_once_however_often_it_is_moved_or_ended) {
    listener ears("sessions_test:*");
    {
        connection one(1);
        connection two(std::move(one));
        connection three(3);
        three = std::move(two);
        three.end();
        three.end();
    }
    EXPECT_EQ(ears.heard_names(), "session_begin session_begin session_end session_end");
    EXPECT_EQ(session_of(ears, ears.records()[2]), 3U);
    EXPECT_EQ(session_of(ears, ears.records()[3]), 1U);
}

void emit_in(std::uint64_t id) {
    const connection one(id);
    one.emit(packet{1, ""});
    one.emit(detail{2});
    net::emit(restart{3});
}

TEST(session, can_be_picked_by_its_number) {
    listener ears(std::vector<std::string>{"sessions_test:*"}, {42, 44});
    for (const std::uint64_t id : {41U, 42U, 43U, 44U}) {
        emit_in(id);
    }
    EXPECT_EQ(ears.heard_names(),
              "session_begin packet detail session_end session_begin packet detail session_end");
    EXPECT_EQ(session_of(ears, ears.records()[0]), 42U);
    EXPECT_EQ(session_of(ears, ears.records()[7]), 44U);
}

TEST(session, can_be_followed_more_closely_than_the_others) {
    listener ears(std::vector<std::string>{"sessions_test:*@info", "sessions_test:*@trace#"}, {42});
    emit_in(41);
    emit_in(42);
    EXPECT_EQ(ears.heard_names(), "session_begin packet restart session_end "
                                  "session_begin packet detail restart session_end");
}

TEST(session, that_is_picked_by_one_is_heard_whole_by_another) {
    listener all("sessions_test:packet");
    listener picky(std::vector<std::string>{"sessions_test:packet"}, {2});
    emit_in(1);
    emit_in(2);
    EXPECT_EQ(all.heard_names(), "packet packet");
    EXPECT_EQ(picky.heard_names(), "packet");
}

TEST(session, with_texts_too_long_for_the_stack_is_picked_all_the_same) {
    listener picky(std::vector<std::string>{"sessions_test:packet"}, {2});
    const std::string text(5000, 'x');
    connection(1).emit(packet{1, text});
    connection(2).emit(packet{1, text});
    EXPECT_EQ(picky.heard_names(), "packet");
}

TEST(span, emits_begin_and_end_with_its_duration) {
    listener ears("spans_test:query_*");
    const auto before = std::chrono::steady_clock::now();
    {
        eventlog::span<database, query_begin, query_end> span(query_begin{"select 1"});
        span.result().rows = 12;
    }
    const auto all = std::chrono::steady_clock::now() - before;
    EXPECT_EQ(ears.heard_names(), "query_begin query_end");
    EXPECT_EQ(std::get<std::uint64_t>(ears.field(ears.records()[1], "rows")), 12U);
    const auto took = std::get<std::int64_t>(ears.field(ears.records()[1], "took"));
    EXPECT_GT(took, 0);
    EXPECT_LE(took, std::chrono::nanoseconds(all).count());
}

TEST(span, that_nobody_heard_begin_ends_with_a_duration_of_zero) {
    std::optional<listener> ears;
    {
        eventlog::span<database, query_begin, query_end> span(query_begin{"select 1"});
        ears.emplace("spans_test:query_*");
    }
    EXPECT_EQ(ears->heard_names(), "query_end");
    EXPECT_EQ(std::get<std::int64_t>(ears->field(ears->records()[0], "took")), 0);
}

using transfer = eventlog::span<ftp, transfer_begin, transfer_end>;

TEST(span, of_a_session_carries_its_number_at_both_ends) {
    listener ears("session_spans_test:transfer_*");
    {
        const eventlog::session<ftp> client(0xfedcba9876543210);
        transfer span(client, transfer_begin{"motd"});
        span.result().bytes = 12;
    }
    EXPECT_EQ(ears.heard_names(), "transfer_begin transfer_end");
    for (const heard_record& record : ears.records()) {
        EXPECT_EQ(session_of(ears, record), 0xfedcba9876543210);
    }
    EXPECT_EQ(std::get<std::string_view>(ears.field(ears.records()[0], "file")), "motd");
    EXPECT_EQ(std::get<std::uint64_t>(ears.field(ears.records()[1], "bytes")), 12U);
    EXPECT_GT(std::get<std::int64_t>(ears.field(ears.records()[1], "took")), 0);
}

TEST(span, of_a_session_is_picked_by_its_number) {
    listener ears(std::vector<std::string>{"session_spans_test:*"}, {42});
    for (const std::uint64_t id : {41U, 42U, 43U}) {
        const eventlog::session<ftp> client(id);
        const transfer span(client, transfer_begin{"motd"});
    }
    EXPECT_EQ(ears.heard_names(), "session_begin transfer_begin transfer_end session_end");
    for (const heard_record& record : ears.records()) {
        EXPECT_EQ(session_of(ears, record), 42U);
    }
}

TEST(span, outlives_its_session_and_keeps_the_number) {
    listener ears("session_spans_test:*");
    {
        eventlog::session<ftp> client(7);
        const transfer span(client, transfer_begin{"motd"});
        client.end();
    }
    EXPECT_EQ(ears.heard_names(), "session_begin transfer_begin session_end transfer_end");
    EXPECT_EQ(session_of(ears, ears.records()[3]), 7U);
}

TEST(counter, tells_each_new_value) {
    listener ears("spans_test:queue_length");
    eventlog::counter<database, queue_length> queue(5);
    queue.add(2);
    queue.add(-3);
    queue.set(100);
    queue.announce();
    EXPECT_EQ(ears.heard_names(), "queue_length queue_length queue_length queue_length");
    const std::int64_t expected[] = {7, 4, 100, 100};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(std::get<std::int64_t>(ears.field(ears.records()[i], "requests")), expected[i]);
    }
    EXPECT_EQ(queue.value(), 100);
}

TEST(counter, goes_on_with_its_smallest_number_past_its_largest) {
    using limits = std::numeric_limits<std::int64_t>;
    listener ears("spans_test:queue_length");
    eventlog::counter<database, queue_length> queue(limits::max());
    queue.add(2);
    queue.add(-2);
    ASSERT_EQ(ears.heard_names(), "queue_length queue_length");
    const std::int64_t expected[] = {limits::min() + 1, limits::max()};
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(std::get<std::int64_t>(ears.field(ears.records()[i], "requests")), expected[i]);
    }
    EXPECT_EQ(queue.value(), limits::max());
}

TEST(counter, of_a_session_carries_its_number_and_is_picked_by_it) {
    listener ears(std::vector<std::string>{"session_spans_test:in_flight"}, {42});
    for (const std::uint64_t id : {41U, 42U, 43U}) {
        const eventlog::session<ftp> client(id);
        eventlog::counter<ftp, in_flight> bytes(client, 1000);
        bytes.add(448);
        bytes.set(7);
        bytes.announce();
    }
    ASSERT_EQ(ears.heard_names(), "in_flight in_flight in_flight");
    const std::uint64_t expected[] = {1448, 7, 7};
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(session_of(ears, ears.records()[i]), 42U);
        EXPECT_EQ(std::get<std::uint64_t>(ears.field(ears.records()[i], "bytes")), expected[i]);
    }
}

TEST(counter, of_a_session_begins_at_zero_and_outlives_it) {
    listener ears("session_spans_test:in_flight");
    eventlog::session<ftp> client(0xfedcba9876543210);
    eventlog::counter<ftp, in_flight> bytes(client);
    client.end();
    bytes.add(5);
    ASSERT_EQ(ears.heard_names(), "in_flight");
    EXPECT_EQ(session_of(ears, ears.records()[0]), 0xfedcba9876543210);
    EXPECT_EQ(std::get<std::uint64_t>(ears.field(ears.records()[0], "bytes")), 5U);
}

}  // namespace
