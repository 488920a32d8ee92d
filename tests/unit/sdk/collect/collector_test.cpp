// SPDX-License-Identifier: MIT
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
#include <eventlog/eventlog.hpp>

namespace {

enum class fruit : std::uint8_t { apple, pear };

struct picked {
    std::uint64_t number;
    std::uint32_t worker;
    std::string_view text;
    fruit kind;
    std::int16_t below;
    double weight;
    bool is_ripe;
};
struct sorted {
    std::uint64_t number;
};
struct detail_seen {
    static constexpr eventlog::event_info info{.level = eventlog::level::trace};
    std::uint64_t number;
};
using orchard = eventlog::provider<"collect_orchard", picked, sorted, detail_seen>;

struct restored {
    std::uint64_t number;
};
using stateful = eventlog::provider<"collect_stateful", restored>;
consteval auto describe(eventlog::of<stateful>) {
    return eventlog::provider_info{.replays_state = true};
}

void emit_picked(std::uint64_t number, std::uint32_t worker = 0, std::string_view text = "x") {
    orchard::emit(picked{number, worker, text, fruit::pear, -7, 1.5, true});
}

std::vector<std::uint64_t> read_numbers(eventlog::collector& events) {
    std::vector<std::uint64_t> numbers;
    while (const auto event = events.try_get()) {
        numbers.push_back(event->get<std::uint64_t>("number").value_or(UINT64_MAX));
    }
    return numbers;
}

std::uint64_t lost_in(const eventlog_collector_counts& counts) {
    return counts.lost_full + counts.lost_too_large + counts.lost_busy + counts.lost_unattached +
           counts.damaged;
}

}  // namespace

TEST(collector, returns_events_with_their_fields) {
    eventlog::collector events({"collect_orchard:picked"});
    ASSERT_EQ(events.error(), EVENTLOG_ERROR_NONE) << events.error_text();
    EXPECT_TRUE(orchard::enabled<picked>());
    EXPECT_FALSE(orchard::enabled<sorted>());
    const auto before = std::chrono::steady_clock::now();
    emit_picked(17, 3, "golden");
    orchard::emit(sorted{1});
    const auto after = std::chrono::steady_clock::now();
    const auto event = events.try_get();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->provider(), "collect_orchard");
    EXPECT_EQ(event->name(), "picked");
    EXPECT_EQ(event->get<std::uint64_t>("number"), 17U);
    EXPECT_EQ(event->get<std::uint32_t>("worker"), 3U);
    EXPECT_EQ(event->get<std::string_view>("text"), "golden");
    EXPECT_EQ(event->get<fruit>("kind"), fruit::pear);
    EXPECT_EQ(event->get<int>("below"), -7);
    EXPECT_EQ(event->get<unsigned>("below"), std::nullopt);
    EXPECT_EQ(event->get<double>("weight"), 1.5);
    EXPECT_EQ(event->get<bool>("is_ripe"), true);
    EXPECT_EQ(event->get<int>("absent"), std::nullopt);
    EXPECT_EQ(event->get<int>("text"), std::nullopt);
    // A clock may be read some microseconds apart.
    EXPECT_GE(event->time() + std::chrono::microseconds(100), before);
    EXPECT_LE(event->time() - std::chrono::microseconds(100), after);
    EXPECT_FALSE(events.try_get());
}

TEST(collector, ends_with_the_object) {
    {
        eventlog::collector events({"collect_orchard"});
        EXPECT_TRUE(orchard::enabled<sorted>());
    }
    EXPECT_FALSE(orchard::enabled<sorted>());
    eventlog::collector again({"collect_orchard"});
    orchard::emit(sorted{2});
    EXPECT_EQ(read_numbers(again), std::vector<std::uint64_t>{2});
}

TEST(collector, keeps_order_over_threads) {
    eventlog::collector events({"collect_orchard:sorted"});
    constexpr std::uint64_t rounds = 400;
    std::atomic<std::uint64_t> turn{0};
    const auto play = [&](std::uint64_t parity) {
        for (std::uint64_t number = parity; number < rounds; number += 2) {
            while (turn.load(std::memory_order_acquire) != number) {
                std::this_thread::yield();
            }
            orchard::emit(sorted{number});
            // Times of different CPUs are exact to about a microsecond.
            const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(10);
            while (std::chrono::steady_clock::now() < end) {
            }
            turn.store(number + 1, std::memory_order_release);
        }
    };
    std::thread even(play, 0);
    std::thread odd(play, 1);
    std::vector<std::uint64_t> numbers;
    while (numbers.size() < rounds) {
        const auto event = events.get();
        numbers.push_back(event->get<std::uint64_t>("number").value_or(0));
    }
    even.join();
    odd.join();
    for (std::uint64_t i = 0; i < rounds; ++i) {
        ASSERT_EQ(numbers[i], i);
    }
}

TEST(collector, conserves_events_of_threads) {
    eventlog::collector events({"collect_orchard:picked"});
    constexpr std::uint32_t thread_count = 4;
    constexpr std::uint64_t each = 20'000;
    const std::string text(100, 'y');
    std::atomic<std::uint32_t> running{thread_count};
    std::vector<std::thread> threads;
    for (std::uint32_t worker = 0; worker < thread_count; ++worker) {
        threads.emplace_back([&, worker] {
            for (std::uint64_t i = 0; i < each; ++i) {
                emit_picked(i, worker, text);
            }
            --running;
        });
    }
    std::vector<std::uint64_t> next(thread_count, 0);
    std::uint64_t lost_between = 0;
    const auto check = [&](const eventlog::collected_event& event) {
        const std::uint32_t worker = event.get<std::uint32_t>("worker").value();
        const std::uint64_t number = event.get<std::uint64_t>("number").value();
        ASSERT_LT(worker, thread_count);
        ASSERT_GE(number, next[worker]) << "in order, and none twice";
        next[worker] = number + 1;
        lost_between += event.lost_before();
    };
    std::uint64_t read = 0;
    // A slow reader, so that some are lost.
    while (running != 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        for (int i = 0; i < 500; ++i) {
            if (const auto event = events.try_get()) {
                check(*event);
                ++read;
            }
        }
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const eventlog_collector_counts halfway = events.counts();
    EXPECT_EQ(halfway.read, read);
    EXPECT_EQ(halfway.read + halfway.unread + lost_in(halfway), thread_count * each);
    while (const auto event = events.try_get()) {
        check(*event);
        ++read;
    }
    const eventlog_collector_counts counts = events.counts();
    EXPECT_EQ(counts.read, read);
    EXPECT_EQ(counts.unread, 0U);
    EXPECT_EQ(counts.read + lost_in(counts), thread_count * each);
    EXPECT_EQ(counts.damaged, 0U);
    EXPECT_GT(counts.lost_full, 0U) << "the test does not fill the buffers";
    EXPECT_LE(lost_between, counts.lost_full);
}

TEST(collector, counts_too_large_events) {
    eventlog::collector events({"collect_orchard:picked"});
    emit_picked(1, 0, std::string(70'000, 'z'));
    emit_picked(2);
    EXPECT_EQ(read_numbers(events), std::vector<std::uint64_t>{2});
    EXPECT_EQ(events.counts().lost_too_large, 1U);
}

TEST(collector, returns_large_events) {
    eventlog::collector events({"collect_orchard:picked"});
    const std::string text(60'000, 'z');
    for (std::uint64_t number = 0; number < 20; ++number) {
        emit_picked(number, 0, text);
        const auto event = events.try_get();
        ASSERT_TRUE(event);
        EXPECT_EQ(event->get<std::uint64_t>("number"), number);
        EXPECT_EQ(event->get<std::string_view>("text"), text);
    }
    EXPECT_EQ(lost_in(events.counts()), 0U);
}

TEST(collector, sets_and_gets_mask) {
    eventlog::collector events({});
    EXPECT_FALSE(orchard::enabled<picked>());
    EXPECT_EQ(events.mask("collect_orchard"), (std::vector<bool>{false, false, false}));
    EXPECT_TRUE(events.set_mask("collect_orchard", {false, true}));
    EXPECT_EQ(events.mask("collect_orchard"), (std::vector<bool>{false, true, false}));
    EXPECT_TRUE(orchard::enabled<sorted>());
    emit_picked(1);
    orchard::emit(sorted{2});
    EXPECT_TRUE(events.set_mask("collect_orchard", {true, false}));
    emit_picked(3);
    orchard::emit(sorted{4});
    EXPECT_EQ(read_numbers(events), (std::vector<std::uint64_t>{2, 3}));
    EXPECT_TRUE(events.mask("collect_nothing").empty());
    EXPECT_FALSE(events.set_mask("collect_nothing", {true}));
}

TEST(collector, replaces_patterns) {
    eventlog::collector events({"collect_orchard:picked"});
    EXPECT_TRUE(events.set_patterns({"collect_orchard@info", "other"}));
    EXPECT_EQ(events.mask("collect_orchard"), (std::vector<bool>{true, true, false}));
    EXPECT_TRUE(events.set_patterns({"collect_orchard:detail_*"}));
    EXPECT_EQ(events.mask("collect_orchard"), (std::vector<bool>{false, false, true}));
    orchard::emit(detail_seen{5});
    EXPECT_FALSE(events.set_patterns({"collect_orchard:"}));
    EXPECT_EQ(events.error(), EVENTLOG_ERROR_PATTERN);
    EXPECT_NE(events.error_text().find("'collect_orchard:'"), std::string_view::npos);
    orchard::emit(detail_seen{6});
    EXPECT_EQ(read_numbers(events), (std::vector<std::uint64_t>{5, 6}));
}

TEST(collector, rejects_patterns_of_sessions_and_bad_ones) {
    for (const std::string_view bad :
         {"", ":x", "a:b@loud", "a:b@6", "a:b/", "a:b/0xg", "a:b#", "a b", "a:b/c,d e"}) {
        eventlog::collector events({bad});
        EXPECT_EQ(events.error(), EVENTLOG_ERROR_PATTERN) << bad;
        EXPECT_NE(events.error_text().find("@NUMBER (1 to 5), and /KEYWORD,KEYWORD or /0xMASK."),
                  std::string_view::npos)
            << events.error_text();
        EXPECT_FALSE(events.try_get());
        EXPECT_FALSE(events.get());
    }
    const std::string longest(3000, 'a');
    eventlog::collector events({std::string_view(longest)});
    EXPECT_EQ(events.error(), EVENTLOG_ERROR_TOO_LARGE);
}

TEST(collector, rejects_bad_buffers_and_too_many) {
    eventlog::collector odd({"a"}, 200'000);
    EXPECT_EQ(odd.error(), EVENTLOG_ERROR_ARGUMENT);
    eventlog::collector one({"a"}, 0, 1);
    EXPECT_EQ(one.error(), EVENTLOG_ERROR_COUNT);
    eventlog::collector first({"collect_orchard"});
    eventlog::collector second({"collect_orchard"});
    eventlog::collector third({"collect_orchard"});
    eventlog::collector fourth({"collect_orchard"});
    eventlog::collector fifth({"collect_orchard"});
    EXPECT_EQ(fifth.error(), EVENTLOG_ERROR_COUNT);
    orchard::emit(sorted{9});
    for (eventlog::collector* each : {&first, &second, &third, &fourth}) {
        EXPECT_EQ(read_numbers(*each), std::vector<std::uint64_t>{9});
    }
}

TEST(collector, excludes_the_calling_thread) {
    eventlog::collector events({"collect_orchard:sorted"});
    eventlog::collector other({"collect_orchard:sorted"});
    {
        const eventlog::collector::thread_exclusion exclusion(events);
        orchard::emit(sorted{1});
        std::thread([] { orchard::emit(sorted{2}); }).join();
    }
    orchard::emit(sorted{3});
    EXPECT_EQ(read_numbers(events), (std::vector<std::uint64_t>{2, 3}));
    EXPECT_EQ(read_numbers(other), (std::vector<std::uint64_t>{1, 2, 3}));
    EXPECT_EQ(lost_in(events.counts()), 0U);
}

TEST(collector, exclusions_nest) {
    eventlog::collector events({"collect_orchard:sorted"});
    {
        const eventlog::collector::thread_exclusion outer(events);
        { const eventlog::collector::thread_exclusion inner(events); }
        orchard::emit(sorted{1});
    }
    orchard::emit(sorted{2});
    EXPECT_EQ(read_numbers(events), std::vector<std::uint64_t>{2});
}

TEST(collector, destroyed_beside_emitting_thread_counts_nothing_elsewhere) {
    std::atomic<bool> stops{false};
    std::thread emitter([&] {
        while (!stops) {
            orchard::emit(sorted{1});
        }
    });
    for (int round = 0; round < 200; ++round) {
        eventlog::collector events({"collect_orchard:sorted"});
        static_cast<void>(events.try_get());
    }
    stops = true;
    emitter.join();
}

TEST(collector, returns_events_that_outlive_it) {
    std::optional<eventlog::collected_event> event;
    {
        eventlog::collector events({"collect_orchard:sorted"});
        orchard::emit(sorted{11});
        event = events.try_get();
    }
    ASSERT_TRUE(event);
    EXPECT_EQ(event->get<std::uint64_t>("number"), 11U);
}

TEST(collector, longest_wait_does_not_overflow) {
    eventlog::collector events({"collect_orchard:sorted"});
    orchard::emit(sorted{12});
    EXPECT_TRUE(events.get_for(std::chrono::nanoseconds::max()));
}

TEST(collector, waits_for_events) {
    using namespace std::chrono_literals;
    eventlog::collector events({"collect_orchard:sorted"});
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(events.get_for(30ms));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 30ms);
    std::thread later([] {
        std::this_thread::sleep_for(20ms);
        orchard::emit(sorted{8});
    });
    const auto event = events.get();
    later.join();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->get<std::uint64_t>("number"), 8U);
}

TEST(collector, of_c_waits_for_events) {
    const char* const patterns[] = {"collect_orchard:sorted"};
    eventlog_collector* events = nullptr;
    ASSERT_EQ(eventlog_collector_create(patterns, 1, nullptr, &events, nullptr, 0),
              EVENTLOG_ERROR_NONE);
    eventlog_collected event{};
    event.size = sizeof event;
    std::uint64_t number = 0;
    ASSERT_EQ(eventlog_collector_try_get(events, &event, &number, sizeof number),
              EVENTLOG_COLLECTOR_EMPTY);
    std::thread later([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        orchard::emit(sorted{8});
    });
    EXPECT_EQ(eventlog_collector_get(events, &event, &number, sizeof number),
              EVENTLOG_COLLECTOR_EVENT);
    later.join();
    EXPECT_EQ(number, 8U);
    EXPECT_STREQ(event.event_name, "sorted");
    eventlog_collector_destroy(events);
}

TEST(collector, receives_state) {
    static unsigned listeners = 0;
    stateful::on_new_listener([] { stateful::emit(restored{100}); });
    stateful::on_listeners_changed([](unsigned now) { listeners = now; });
    {
        eventlog::collector events({"collect_stateful"});
        eventlog::collector second({"collect_stateful"});
        stateful::run_callbacks();
        EXPECT_EQ(listeners, 2U);
        const auto event = events.try_get();
        ASSERT_TRUE(event);
        EXPECT_EQ(event->get<std::uint64_t>("number"), 100U);
        EXPECT_EQ(events.try_get().value().name(), "state_complete");
        EXPECT_FALSE(events.try_get());
        EXPECT_EQ(second.counts().unread, 2U);
    }
    stateful::run_callbacks();
    EXPECT_EQ(listeners, 0U);
    stateful::on_new_listener(nullptr);
    stateful::on_listeners_changed(nullptr);
}

TEST(collector, receives_state_in_an_excluded_thread) {
    stateful::on_new_listener([] { stateful::emit(restored{42}); });
    eventlog::collector events({"collect_stateful"});
    const eventlog::collector::thread_exclusion exclusion(events);
    stateful::run_callbacks();
    EXPECT_EQ(events.counts().unread, 2U) << "the state and its end";
    stateful::on_new_listener(nullptr);
}

TEST(collector, reports_the_needed_size_and_keeps_the_event) {
    const char* const patterns[] = {"collect_orchard:sorted"};
    eventlog_collector* events = nullptr;
    ASSERT_EQ(eventlog_collector_create(patterns, 1, nullptr, &events, nullptr, 0),
              EVENTLOG_ERROR_NONE);
    orchard::emit(sorted{77});
    eventlog_collected event{};
    std::uint64_t number = 0;
    EXPECT_EQ(eventlog_collector_try_get(events, &event, &number, sizeof number),
              EVENTLOG_COLLECTOR_INVALID);
    event.size = sizeof event;
    EXPECT_EQ(eventlog_collector_try_get(events, &event, &number, 7), EVENTLOG_COLLECTOR_TOO_SMALL);
    EXPECT_EQ(event.payload_size, sizeof number);
    EXPECT_STREQ(event.event_name, "sorted");
    EXPECT_EQ(eventlog_collector_try_get(events, &event, &number, sizeof number),
              EVENTLOG_COLLECTOR_EVENT);
    EXPECT_EQ(number, 77U);
    EXPECT_EQ(eventlog_collector_try_get(events, &event, &number, sizeof number),
              EVENTLOG_COLLECTOR_EMPTY);
    eventlog_collector_destroy(events);
}
