// SPDX-License-Identifier: MIT
//
// Sessions, timed scopes and gauges, as a listener receives them.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
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
struct query {
    std::uint32_t rows;
};
struct statement {
    std::string_view sql;
};
struct nothing {};
struct transfer {
    static constexpr eventlog::event_info info{.session_bound = true};
    std::uint32_t bytes;
};
struct queue_length {
    std::int64_t requests;
};
struct in_flight {
    static constexpr eventlog::event_info info{.session_bound = true};
    std::uint32_t bytes;
};
using net = eventlog::provider<"sessions_test", packet, detail, restart>;
using ftp = eventlog::provider<"session_scopes_test", eventlog::timed<transfer>,
                               eventlog::gauge<in_flight>>;
using database =
    eventlog::provider<"scopes_test", eventlog::timed<query>, eventlog::timed<statement>,
                       eventlog::timed<nothing>, eventlog::gauge<queue_length>>;

}  // namespace

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<packet>{.session_bound = true};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<detail>{
    .level = eventlog::level::trace, .session_bound = true};

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
    one.emit(make);
    EXPECT_EQ(made, 0U);
    event_listener listener("sessions_test:packet");
    one.emit(make);
    EXPECT_EQ(made, 1U);
    ASSERT_EQ(listener.received_names(), "packet");
    EXPECT_EQ(session_of(listener, listener.records()[0]), 5U);
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[0], "bytes")), 1U);
    EXPECT_EQ(std::get<std::string_view>(listener.field(listener.records()[0], "from")), "there");
}

TEST(session, is_noexcept_if_event_construction_is) {
    const connection one(6);
    EXPECT_TRUE(noexcept(one.emit([]() noexcept { return packet{}; })));
    EXPECT_FALSE(noexcept(one.emit([] { return packet{}; })));
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

TEST(timed_scope, emits_event_with_its_duration_at_the_end) {
    event_listener listener("scopes_test:query");
    const auto before = std::chrono::steady_clock::now();
    {
        auto scope = database::time(query{3});
        EXPECT_EQ(listener.received_names(), "");
        scope.event().rows = 12;
    }
    const auto all = std::chrono::steady_clock::now() - before;
    ASSERT_EQ(listener.received_names(), "query");
    const received_record& record = listener.records()[0];
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "rows")), 12U);
    const auto duration = std::get<std::int64_t>(listener.field(record, "duration"));
    EXPECT_GT(duration, 0);
    EXPECT_LE(duration, std::chrono::nanoseconds(all).count());
}

TEST(timed_scope, calls_maker_at_the_end) {
    event_listener listener("scopes_test:statement");
    std::string sql = "select 1";
    {
        const auto scope = database::time([&] { return statement{sql}; });
        sql = "select 2";
    }
    ASSERT_EQ(listener.received_names(), "statement");
    EXPECT_EQ(std::get<std::string_view>(listener.field(listener.records()[0], "sql")), "select 2");
}

TEST(timed_scope, without_listener_at_the_begin_emits_nothing) {
    std::optional<event_listener> listener;
    {
        const auto scope = database::time([]() -> statement {
            ADD_FAILURE() << "the maker was called";
            return {};
        });
        listener.emplace("scopes_test:*");
    }
    EXPECT_EQ(listener->received_names(), "");
}

TEST(timed_scope, of_event_without_fields_has_a_duration) {
    event_listener listener("scopes_test:nothing");
    database::time(nothing{}).end();
    ASSERT_EQ(listener.received_names(), "nothing");
    EXPECT_GT(std::get<std::int64_t>(listener.field(listener.records()[0], "duration")), 0);
}

TEST(timed_scope, emits_once_and_not_after_cancel) {
    event_listener listener("scopes_test:query");
    {
        auto scope = database::time(query{1});
        scope.end();
        scope.end();
        auto cancelled = database::time(query{2});
        cancelled.cancel();
    }
    ASSERT_EQ(listener.received_names(), "query");
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[0], "rows")), 1U);
}

TEST(timed_scope, ends_inner_scope_first) {
    event_listener listener("scopes_test:*");
    {
        const auto outer = database::time(nothing{});
        const auto inner = database::time(query{1});
    }
    ASSERT_EQ(listener.received_names(), "query nothing");
    const auto duration = [&](std::size_t index) {
        return std::get<std::int64_t>(listener.field(listener.records()[index], "duration"));
    };
    EXPECT_LE(duration(0), duration(1));
}

TEST(timed_scope, moves_to_another_thread_which_emits) {
    event_listener listener("scopes_test:query");
    auto scope = database::time(query{7});
    std::thread([moved = std::move(scope)] {}).join();
    ASSERT_EQ(listener.received_names(), "query");
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[0], "rows")), 7U);
}

TEST(timed_scope, event_with_a_known_duration_can_be_emitted) {
    event_listener listener("scopes_test:query");
    database::emit(eventlog::timed<query>{5, {6}});
    ASSERT_EQ(listener.received_names(), "query");
    EXPECT_EQ(std::get<std::int64_t>(listener.field(listener.records()[0], "duration")), 5);
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[0], "rows")), 6U);
}

TEST(timed_scope, of_session_is_selected_by_session_id) {
    event_listener listener(std::vector<std::string>{"session_scopes_test:*"}, {42});
    for (const std::uint64_t id : {41U, 42U, 43U}) {
        const eventlog::session<ftp> client(id);
        auto scope = client.time(transfer{});
        scope.event().bytes = 12;
    }
    ASSERT_EQ(listener.received_names(), "session_begin transfer session_end");
    for (const received_record& record : listener.records()) {
        EXPECT_EQ(session_of(listener, record), 42U);
    }
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[1], "bytes")), 12U);
}

TEST(timed_scope, outlives_session_and_keeps_session_id) {
    event_listener listener("session_scopes_test:*");
    {
        eventlog::session<ftp> client(0xfedcba9876543210);
        const auto scope = client.time(transfer{});
        client.end();
    }
    ASSERT_EQ(listener.received_names(), "session_begin session_end transfer");
    EXPECT_EQ(session_of(listener, listener.records()[2]), 0xfedcba9876543210);
}

TEST(gauge, emits_each_new_value) {
    event_listener listener("scopes_test:queue_length");
    database::gauge<queue_length> queue(5);
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

TEST(gauge, event_can_be_emitted_without_an_object) {
    event_listener listener("scopes_test:queue_length");
    database::emit(queue_length{4});
    database::emit([] { return queue_length{5}; });
    ASSERT_EQ(listener.received_names(), "queue_length queue_length");
    EXPECT_EQ(std::get<std::int64_t>(listener.field(listener.records()[1], "requests")), 5);
}

TEST(gauge, wraps_from_maximum_to_minimum) {
    using limits = std::numeric_limits<std::int64_t>;
    event_listener listener("scopes_test:queue_length");
    database::gauge<queue_length> queue(limits::max());
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

TEST(gauge, of_session_carries_session_id_and_is_selected_by_it) {
    event_listener listener(std::vector<std::string>{"session_scopes_test:in_flight"}, {42});
    for (const std::uint64_t id : {41U, 42U, 43U}) {
        const eventlog::session<ftp> client(id);
        ftp::gauge<in_flight> bytes(client, 1000);
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

TEST(gauge, of_session_starts_at_zero_and_outlives_session) {
    event_listener listener("session_scopes_test:in_flight");
    eventlog::session<ftp> client(0xfedcba9876543210);
    ftp::gauge<in_flight> bytes(client);
    client.end();
    bytes.add(5);
    ASSERT_EQ(listener.received_names(), "in_flight");
    EXPECT_EQ(session_of(listener, listener.records()[0]), 0xfedcba9876543210);
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[0], "bytes")), 5U);
}

}  // namespace
