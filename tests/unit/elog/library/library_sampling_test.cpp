// SPDX-License-Identifier: MIT
//
// Sampling and rate limits of subscriptions of libelog: emitted = returned + omitted + lost.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <elog/elog.hpp>
#include <eventlog/eventlog.hpp>

namespace {

struct beat {
    std::uint32_t number;
};

struct other_beat {
    std::uint32_t number;
};

using heart = eventlog::provider<"library_sampling", beat, other_beat>;

std::uint32_t number_of(const elog::record& record) {
    return record["number"].as<std::uint32_t>().value_or(UINT32_MAX);
}

/// The numbers of all records of a source until its end.
std::vector<std::uint32_t> rest_of(elog::source& source) {
    source.stop();
    std::vector<std::uint32_t> numbers;
    for (const elog::record& record : source) {
        numbers.push_back(number_of(record));
    }
    return numbers;
}

TEST(library_sampling, omits_events_by_sampling_rate) {
    elog::source source =
        elog::open("memory:", {.events = {"library_sampling:beat 1/10", "library_sampling:* 1/1000",
                                          "library_sampling:other_* 1/3"}});
    for (std::uint32_t number = 0; number < 1005; ++number) {
        heart::emit(beat{number});
        if (number < 10) {
            heart::emit(other_beat{number});
        }
    }
    std::vector<std::uint32_t> beats;
    std::vector<std::uint32_t> others;
    source.stop();
    for (const elog::record& record : source) {
        (record.name() == "beat" ? beats : others).push_back(number_of(record));
        EXPECT_EQ(record.lost_before(), 0U);
    }
    ASSERT_EQ(beats.size(), 101U);
    EXPECT_EQ(others.size(), 4U);
    const elog::source_totals totals = source.totals();
    EXPECT_EQ(totals.records, 105U);
    EXPECT_EQ(totals.omitted_by_sampling, 1015U - 105U);
    EXPECT_EQ(totals.omitted_by_rate, 0U);
    EXPECT_EQ(totals.lost, 0U);
}

TEST(library_sampling, conserves_events_with_sampling_and_losses) {
    elog::source source =
        elog::open("memory:library_sampling 1/7", {.buffer_size = 128U << 10U, .max_rate = 1000});
    constexpr std::uint32_t count = 100'000;
    for (std::uint32_t number = 0; number < count; ++number) {
        heart::emit(beat{number});
    }
    const auto returned = static_cast<std::uint64_t>(rest_of(source).size());
    const elog::source_totals totals = source.totals();
    EXPECT_GT(totals.lost, 0U);
    EXPECT_GT(totals.omitted_by_sampling, 0U);
    EXPECT_EQ(returned, totals.records);
    EXPECT_EQ(returned + totals.omitted_by_sampling + totals.omitted_by_rate + totals.lost, count);
}

TEST(library_sampling, limits_rate_of_what_sampling_keeps) {
    elog::source source = elog::open("memory:library_sampling 1/2", {.max_rate = 5});
    for (std::uint32_t number = 0; number < 1000; ++number) {
        heart::emit(beat{number});
    }
    const auto returned = static_cast<std::uint64_t>(rest_of(source).size());
    const elog::source_totals totals = source.totals();
    // The events are within few seconds of the clock, with at least one event each.
    EXPECT_GE(returned, 5U);
    EXPECT_LT(returned, 500U);
    EXPECT_EQ(totals.omitted_by_sampling, 500U);
    EXPECT_EQ(totals.omitted_by_rate, 500U - returned);
    EXPECT_EQ(totals.lost, 0U);
}

TEST(library_sampling, samples_what_predicate_selects) {
    elog::source source = elog::open("memory:library_sampling 1/10",
                                     {.where = "number >= 50", .exclude_self = false});
    for (std::uint32_t number = 0; number < 100; ++number) {
        heart::emit(beat{number});
    }
    EXPECT_EQ(rest_of(source), (std::vector<std::uint32_t>{50, 60, 70, 80, 90}));
    EXPECT_EQ(source.totals().omitted_by_sampling, 45U);
}

TEST(library_sampling, sums_omitted_records) {
    std::vector<elog::source> parts;
    parts.push_back(elog::open("memory:library_sampling 1/10"));
    parts.push_back(elog::open("memory:library_sampling 1/4"));
    elog::source merged = elog::merge(std::move(parts));
    for (std::uint32_t number = 0; number < 100; ++number) {
        heart::emit(beat{number});
    }
    EXPECT_EQ(rest_of(merged).size(), 35U);
    EXPECT_EQ(merged.totals().omitted_by_sampling, 90U + 75U);
}

TEST(library_sampling, rejects_invalid_rates) {
    EXPECT_THROW(static_cast<void>(elog::open("memory:a 1/0")), elog::error);
    EXPECT_THROW(static_cast<void>(elog::open("memory:a 2/3")), elog::error);
    EXPECT_THROW(static_cast<void>(elog::open("memory:a", {.max_rate = 1'000'000'001})),
                 elog::error);
}

}  // namespace
