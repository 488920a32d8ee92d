// SPDX-License-Identifier: MIT
//
// Subscribing with libelog: which records a source returns and when, and merged sources.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <elog/elog.hpp>
#include <eventlog/dynamic_provider.hpp>
#include <eventlog/eventlog.hpp>

#include "listener.hpp"
#include "platform/process.hpp"
#include "platform/unique_fd.hpp"
#include "recording_sample.hpp"
#include "run_in_child.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct beat {
    std::uint32_t number;
};

struct other_beat {
    std::uint32_t number;
};

using heart = eventlog::provider<"library_live", beat, other_beat>;

// Far longer than any operation here.
constexpr std::chrono::seconds patience{30};

std::optional<std::uint32_t> number_of(const std::optional<elog::record>& record) {
    return record ? (*record)["number"].as<std::uint32_t>() : std::nullopt;
}

/// All records of a source until its end.
std::vector<std::uint32_t> rest_of(elog::source& source) {
    source.stop();
    std::vector<std::uint32_t> numbers;
    for (const elog::record& record : source) {
        numbers.push_back(record["number"].as<std::uint32_t>().value_or(0));
    }
    return numbers;
}

TEST(library_live, yields_events_emitted_after_start) {
    heart::emit(beat{1});
    elog::source source = elog::open("memory:library_live");
    heart::emit(beat{2});
    heart::emit(other_beat{3});
    const std::optional<elog::record> first = source.get(patience);
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->name(), "beat");
    EXPECT_EQ(first->pid(), static_cast<std::uint32_t>(::getpid()));
    EXPECT_EQ(number_of(first), 2U);
    EXPECT_EQ(number_of(source.get(patience)), 3U);
    EXPECT_FALSE(source.is_over());
}

TEST(library_live, yields_only_selected_events) {
    elog::source source = elog::open("memory:library_live:other_*");
    heart::emit(beat{1});
    heart::emit(other_beat{2});
    EXPECT_EQ(rest_of(source), std::vector<std::uint32_t>{2});
}

TEST(library_live, is_empty_without_events) {
    elog::source source = elog::open("memory:library_live");
    EXPECT_FALSE(source.try_get().has_value());
    const auto begin = steady_clock::now();
    EXPECT_FALSE(source.get(milliseconds(30)).has_value());
    EXPECT_GE(steady_clock::now() - begin, milliseconds(30));
    const auto deadline = steady_clock::now() + milliseconds(30);
    EXPECT_FALSE(source.get(deadline).has_value());
    EXPECT_GE(steady_clock::now(), deadline);
    EXPECT_FALSE(source.get(steady_clock::now() - milliseconds(1)).has_value());
    EXPECT_FALSE(source.is_over());
}

TEST(library_live, yields_settled_records_without_waiting) {
    elog::source source = elog::open("memory:library_live");
    heart::emit(beat{7});
    std::optional<elog::record> found;
    const auto deadline = steady_clock::now() + patience;
    while (!found && steady_clock::now() < deadline) {
        found = source.try_get();
    }
    EXPECT_EQ(number_of(found), 7U);
}

TEST(library_live, holds_record_no_longer_than_latency) {
    elog::source source = elog::open("memory:library_live", {.latency = milliseconds(400)});
    EXPECT_FALSE(source.try_get().has_value());  // polls now, and then not for a while
    heart::emit(beat{8});
    const auto begin = steady_clock::now();
    EXPECT_EQ(number_of(source.get(patience)), 8U);
    // An immediate return would mean that the option has no effect. The upper limit allows for a
    // busy machine.
    EXPECT_GE(steady_clock::now() - begin, milliseconds(150));
    EXPECT_LT(steady_clock::now() - begin, milliseconds(400) + std::chrono::seconds(2));
}

TEST(library_live, yields_remaining_records_on_stop) {
    elog::source source = elog::open("memory:library_live");
    heart::emit(beat{1});
    heart::emit(beat{2});
    EXPECT_EQ(rest_of(source), (std::vector<std::uint32_t>{1, 2}));
    EXPECT_TRUE(source.is_over());
    EXPECT_FALSE(heart::enabled<beat>());
    EXPECT_EQ(source.totals().records, 2U);
}

TEST(library_live, is_stopped_by_another_thread_while_it_waits) {
    elog::source source = elog::open("memory:library_live");
    std::thread other([&] {
        std::this_thread::sleep_for(milliseconds(20));
        source.stop();
    });
    EXPECT_FALSE(source.get().has_value());
    EXPECT_TRUE(source.is_over());
    other.join();
}

TEST(library_live, yields_events_of_selected_processes) {
    const auto own = eventlog::core::current_process();
    elog::source by_number = elog::open("memory:library_live", {.pids = {own.pid}});
    elog::source by_name =
        elog::open("memory:library_live", {.process_names = {std::string(own.name.data())}});
    elog::source of_others =
        elog::open("memory:library_live", {.process_names = {"no_such_process"}});
    heart::emit(beat{1});
    const int status = test::run_in_child([] {
        heart::emit(beat{2});
        return 0;
    });
    EXPECT_EQ(status, 0);
    EXPECT_EQ(rest_of(by_number), std::vector<std::uint32_t>{1});
    EXPECT_EQ(rest_of(by_name), (std::vector<std::uint32_t>{1, 2}));
    EXPECT_TRUE(rest_of(of_others).empty());
}

TEST(library_live, can_exclude_own_process) {
    elog::source source = elog::open("memory:library_live", {.exclude_self = true});
    heart::emit(beat{1});
    const int status = test::run_in_child([] {
        heart::emit(beat{2});
        return 0;
    });
    EXPECT_EQ(status, 0);
    heart::emit(beat{3});
    EXPECT_EQ(rest_of(source), std::vector<std::uint32_t>{2});
}

TEST(library_live, does_not_exclude_process_with_same_pid) {
    const pid_t own = ::getpid();
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const eventlog::core::unique_fd read_end(ends[0]);
    const eventlog::core::unique_fd write_end(ends[1]);
    int status = -1;
    std::thread other([&] {
        status = test::run_in_child([&] {
            // The identity that the process would have in a pid namespace of its own, where numbers
            // start again.
            eventlog::core::process_identity namesake = eventlog::core::own_identity();
            namesake.pid = static_cast<std::uint32_t>(own);
            namesake.start_time += 1;
            eventlog::core::remember_identity(namesake);
            static_cast<void>(::write(write_end.get(), "", 1) == 1);
            const auto end = steady_clock::now() + patience;
            while (!heart::enabled<beat>() && steady_clock::now() < end) {
                std::this_thread::sleep_for(milliseconds(1));
            }
            heart::emit(beat{2});
            return 0;
        });
    });
    char ready = 1;
    EXPECT_EQ(::read(read_end.get(), &ready, 1), 1);
    elog::source source = elog::open("memory:library_live", {.exclude_self = true});
    other.join();
    EXPECT_EQ(status, 0);
    EXPECT_EQ(rest_of(source), std::vector<std::uint32_t>{2});
}

TEST(library_live, survives_destruction_of_copy_in_forked_child) {
    elog::source source = elog::open("memory:library_live");
    heart::emit(beat{1});
    const int status = test::run_in_child([&] {
        const elog::source copy = std::move(source);
        return 0;
    });
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(heart::enabled<beat>());
    heart::emit(beat{2});
    EXPECT_EQ(rest_of(source), (std::vector<std::uint32_t>{1, 2}));
}

TEST(library_live, yields_records_that_match_predicate) {
    elog::source source = elog::open("memory:library_live", {.where = "number > 5"});
    heart::emit(beat{5});
    heart::emit(beat{6});
    EXPECT_EQ(rest_of(source), std::vector<std::uint32_t>{6});
    EXPECT_TRUE(source.complaints().empty());
}

TEST(library_live, counts_type_mismatches_of_late_version) {
    elog::source source = elog::open("memory:library_live", {.where = "number > 5"});
    heart::emit(beat{6});
    static constexpr eventlog_field_definition fields[] = {
        {.name = "number", .type = EVENTLOG_TYPE_TEXT}};
    static constexpr eventlog_event_definition events[] = {
        {.name = "beat", .fields = fields, .field_count = 1}};
    const eventlog::dynamic_provider later(
        {EVENTLOG_DEFINITION_SIZES, .name = "library_live", .events = events, .event_count = 1});
    ASSERT_EQ(later.error(), EVENTLOG_ERROR_NONE) << later.error_text();
    later.emit(0, "seven");
    later.emit(0, "eight");
    heart::emit(beat{9});
    EXPECT_EQ(rest_of(source), (std::vector<std::uint32_t>{6, 9}));
    EXPECT_EQ(source.totals().left_out, 2U);
    const std::vector<std::string> said = source.complaints();
    ASSERT_EQ(said.size(), 1U);
    EXPECT_TRUE(said[0].starts_with("2 events of library_live:beat by another version of its "
                                    "provider were left out: where, column 10: "))
        << said[0];
}

TEST(library_live, counts_ring_full_losses) {
    std::uint64_t reported = 0;
    elog::source source =
        elog::open("memory:library_live",
                   {.buffer_size = 128U << 10U,
                    .on_loss = [&](const elog::loss& missing) { reported += missing.count; }});
    constexpr std::uint32_t count = 100'000;
    for (std::uint32_t number = 0; number < count; ++number) {
        heart::emit(beat{number});
    }
    const auto given = static_cast<std::uint64_t>(rest_of(source).size());
    EXPECT_GT(reported, 0U);
    EXPECT_EQ(given + reported, count);
    EXPECT_EQ(source.totals().lost, reported);
}

TEST(library_live, has_requested_buffer_count) {
    const auto kept = [](std::uint32_t buffers) {
        elog::source source =
            elog::open("memory:library_live", {.buffer_size = 128U << 10U, .buffers = buffers});
        for (std::uint32_t number = 0; number < 100'000; ++number) {
            heart::emit(beat{number});
        }
        return rest_of(source).size();
    };
    const eventlog::test::pinned_to_one_cpu pinned;  // each CPU has buffers
    EXPECT_EQ(kept(64), 100'000U);
    EXPECT_LT(kept(0), 100'000U / 2);
}

TEST(library_live, rejects_invalid_subscription) {
    EXPECT_THROW(static_cast<void>(elog::open("memory:")), elog::error);
    EXPECT_THROW(static_cast<void>(elog::open("memory:a:b@loud")), elog::error);
    EXPECT_THROW(static_cast<void>(elog::open("memory:a", {.buffer_size = 1000})), elog::error);
    EXPECT_THROW(static_cast<void>(elog::open("memory:a", {.buffers = 3})), elog::error);
    EXPECT_THROW(static_cast<void>(elog::open("memory:a", {.buffers = 128})), elog::error);
    EXPECT_THROW(static_cast<void>(elog::open("memory:a", {.pids = {0}})), elog::error);
    EXPECT_THROW(static_cast<void>(elog::open("memory:a", {.process_names = {""}})), elog::error);
    EXPECT_THROW(static_cast<void>(elog::open("memory:a", {.where = "number >"})), elog::error);
}

std::vector<elog::source> both(elog::source first, elog::source second) {
    std::vector<elog::source> sources;
    sources.push_back(std::move(first));
    sources.push_back(std::move(second));
    return sources;
}

std::string make_sample(const std::string& name) {
    std::string path = test::scratch_directory() + "/library_" + name;
    test::write_sample(path);
    return path;
}

TEST(library_merge, yields_two_files_in_time_order) {
    elog::source merged =
        elog::merge(both(elog::open(make_sample("odd.elog"), {.where = "number & 1"}),
                         elog::open(make_sample("all.elog"), {.where = "number < 41"})));
    std::vector<std::uint64_t> numbers;
    for (const elog::record& record : merged) {
        numbers.push_back(record["number"].as<std::uint64_t>().value_or(0));
    }
    std::vector<std::uint64_t> expected;
    for (std::uint64_t number = 1; number <= 60; ++number) {
        expected.insert(expected.end(), (number % 2) + (number < 41 ? 1 : 0), number);
    }
    EXPECT_EQ(numbers, expected);
    EXPECT_TRUE(merged.is_over());
    EXPECT_EQ(merged.totals().records, 70U);
    EXPECT_EQ(merged.totals().lost, 2 * test::sample_lost);
}

TEST(library_merge, resolves_copies_of_either_source) {
    const std::string path = make_sample("copies.elog");
    elog::source merged = elog::merge(
        both(elog::open(path, {.fields = {"number"}}), elog::open(path, {.fields = {"check"}})));
    std::vector<std::byte> buffer(200);
    for (int i = 0; i < 2; ++i) {
        const std::optional<elog::record> record = merged.get();
        ASSERT_TRUE(record.has_value());
        ASSERT_LE(record->copy_to(buffer), buffer.size());
        const std::optional<elog::record> copy = merged.view(buffer);
        ASSERT_TRUE(copy.has_value());
        EXPECT_EQ(copy->event(), record->event());
    }
}

std::vector<std::byte> copy_of(const elog::record& record) {
    std::vector<std::byte> buffer(200);
    buffer.resize(record.copy_to(buffer));
    return buffer;
}

TEST(library_merge, resolves_copies_made_before_merge) {
    const std::string path = make_sample("earlier_copies.elog");
    elog::source first = elog::open(path, {.fields = {"number"}});
    elog::source second = elog::open(path, {.fields = {"check"}});
    const std::vector<std::byte> of_first = copy_of(first.get().value());
    const std::vector<std::byte> of_second = copy_of(second.get().value());
    const elog::source merged = elog::merge(both(std::move(first), std::move(second)));
    const std::optional<elog::record> one = merged.view(of_first);
    ASSERT_TRUE(one.has_value());
    EXPECT_EQ((*one)["number"].as<int>(), 1);
    const std::optional<elog::record> other = merged.view(of_second);
    ASSERT_TRUE(other.has_value());
    EXPECT_EQ((*other)["check"].as<std::uint64_t>(), test::checksum_of(1));
}

TEST(library_merge, empty_is_finished) {
    elog::source merged = elog::merge({});
    EXPECT_TRUE(merged.is_over());
    EXPECT_FALSE(merged.get().has_value());
}

std::vector<std::uint32_t> counted_up_to(std::uint32_t end) {
    std::vector<std::uint32_t> numbers(end);
    std::iota(numbers.begin(), numbers.end(), 0U);
    return numbers;
}

// The sample's losses that a record follows.
constexpr std::uint64_t lost_before_records = 5;

TEST(library_merge, polls_live_source_while_reading_file) {
    constexpr std::uint32_t at_once = 2000;
    std::uint32_t emitted = 0;
    elog::source merged =
        elog::merge(both(elog::open(make_sample("long.elog")),
                         elog::open("memory:library_live", {.buffer_size = 128U << 10U})));
    for (int i = 0; i < 60; ++i) {
        // All events together are several times as large as the buffers.
        for (std::uint32_t j = 0; j < at_once; ++j) {
            heart::emit(beat{emitted++});
        }
        std::this_thread::sleep_for(milliseconds(6));
        const std::optional<elog::record> record = merged.get();
        ASSERT_TRUE(record.has_value());
        EXPECT_EQ(record->provider(), "file_test");
    }
    EXPECT_EQ(rest_of(merged), counted_up_to(emitted));
    EXPECT_EQ(merged.totals().lost, lost_before_records);
}

TEST(library_merge, respects_buffer_limit) {
    constexpr std::uint32_t at_once = 2000;
    std::uint32_t emitted = 0;
    elog::source merged = elog::merge(
        both(elog::open(make_sample("held.elog")),
             elog::open("memory:library_live", {.buffer_size = 128U << 10U, .backlog = 1})));
    for (int i = 0; i < 60; ++i) {
        for (std::uint32_t j = 0; j < at_once; ++j) {
            heart::emit(beat{emitted++});
        }
        std::this_thread::sleep_for(milliseconds(6));
        ASSERT_TRUE(merged.get().has_value());
    }
    const std::uint64_t given = rest_of(merged).size();
    EXPECT_LT(given, emitted);
    EXPECT_EQ(given + merged.totals().lost, emitted + lost_before_records);
}

TEST(library_merge, waits_for_source_with_possibly_earlier_record) {
    elog::source merged = elog::merge(
        both(elog::open("memory:library_live:beat"), elog::open("memory:library_live:other_beat")));
    for (std::uint32_t number = 0; number < 50; ++number) {
        // The distance exceeds the disagreement between two readings of the same clocks.
        std::this_thread::sleep_for(milliseconds(1));
        heart::emit(beat{2 * number});
        std::this_thread::sleep_for(milliseconds(1));
        heart::emit(other_beat{2 * number + 1});
    }
    for (std::uint32_t number = 0; number < 100; ++number) {
        EXPECT_EQ(number_of(merged.get(patience)), number);
    }
    EXPECT_FALSE(merged.is_over());
    EXPECT_TRUE(rest_of(merged).empty());
    EXPECT_TRUE(merged.is_over());
}

}  // namespace
