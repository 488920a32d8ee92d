// SPDX-License-Identifier: MIT
//
// Sampling keeps the records that its rule names, and every other one is counted.
#include "record/record_sampler.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "random_source.hpp"
#include "record_builder.hpp"

namespace {

using eventlog::test::record_builder;
using eventlog::test::test_record;

constexpr std::string_view schema =
    "provider p { event one info { n: u64 } event two warn { n: u64 } "
    "event step info session { session: u64 n: u64 } }";
constexpr std::uint64_t second = 1'000'000'000;

struct pattern {
    const char* text;
    std::uint64_t every;
};

elog::record_sampler make_sampler(const std::vector<pattern>& all, std::uint64_t max_rate = 0,
                                  const std::vector<std::uint64_t>& sessions = {}) {
    elog::event_patterns patterns;
    elog::sampling_options wanted;
    for (const pattern& each : all) {
        patterns.add(each.text);
        wanted.every.push_back(each.every);
    }
    for (const std::uint64_t session : sessions) {
        patterns.add_session(session);
    }
    wanted.max_rate = max_rate;
    return {patterns, wanted, [] { return std::int64_t{1000 * second}; }};
}

class sampler : public ::testing::Test {
  protected:
    void start(elog::record_sampler& into) {
        into.start(2, 0);
        into.add(maker.provider());
        into.add(other.provider());
    }

    static bool keeps(elog::record_sampler& into, test_record record, std::uint64_t time = 0,
                      std::uint32_t ring = 0, std::uint16_t flags = 0) {
        record.header().time = time;
        record.header().flags = flags;
        return into.keeps(record.view(), ring, record_builder::clock());
    }

    /// "x" for each record that is kept, "." for others.
    std::string course(elog::record_sampler& into, std::string_view event, int records) {
        std::string shown;
        for (int i = 0; i < records; ++i) {
            shown += keeps(into, maker.record(event)) ? 'x' : '.';
        }
        return shown;
    }

    test_record step_of(std::uint64_t session) {
        test_record record = maker.record("step");
        record.set("session", session);
        return record;
    }

    record_builder maker{schema, "tester", 1};
    record_builder other{schema, "second", 2, 1};
};

TEST_F(sampler, keeps_first_of_every_n) {
    elog::record_sampler every_third = make_sampler({{"p:one", 3}});
    start(every_third);
    EXPECT_EQ(course(every_third, "one", 8), "x..x..x.");
    const elog::sampling_report report = every_third.report();
    EXPECT_EQ(report.kept, 3U);
    EXPECT_EQ(report.by_sampling, 5U);
    EXPECT_EQ(report.omitted(), 5U);
    ASSERT_EQ(report.events.size(), 1U);
    EXPECT_EQ(report.events[0].provider, "p");
    EXPECT_EQ(report.events[0].event, "one");
    EXPECT_EQ(report.events[0].every, 3U);
    EXPECT_EQ(report.events[0].kept, 3U);
    EXPECT_EQ(report.events[0].by_sampling, 5U);
}

TEST_F(sampler, counts_each_event_on_its_own) {
    elog::record_sampler half = make_sampler({{"p", 2}});
    start(half);
    std::string shown;
    for (const char* event : {"one", "two", "one", "two", "two"}) {
        shown += course(half, event, 1);
    }
    EXPECT_EQ(shown, "xx..x");
}

TEST_F(sampler, counts_event_of_all_processes_together) {
    elog::record_sampler half = make_sampler({{"p", 2}});
    start(half);
    EXPECT_TRUE(keeps(half, maker.record("one")));
    EXPECT_FALSE(keeps(half, other.record("one")));
    EXPECT_TRUE(keeps(half, other.record("one")));
    EXPECT_EQ(half.report().events.size(), 1U);
}

TEST_F(sampler, uses_densest_of_overlapping_patterns) {
    elog::record_sampler mixed = make_sampler({{"p", 100}, {"p:o*", 2}, {"*:*", 5}});
    start(mixed);
    EXPECT_EQ(course(mixed, "one", 5), "x.x.x");
    EXPECT_EQ(course(mixed, "two", 6), "x....x");
    elog::record_sampler all = make_sampler({{"p", 100}, {"p:*@warn", 1}});
    start(all);
    EXPECT_EQ(course(all, "two", 3), "xxx");
    EXPECT_EQ(course(all, "one", 3), "x..");
}

TEST_F(sampler, distinguishes_records_by_session) {
    elog::record_sampler by_session = make_sampler({{"p:*", 3}, {"p:*#", 1}}, 0, {7});
    start(by_session);
    std::string shown;
    for (const std::uint64_t session : {7U, 8U, 7U, 8U, 7U, 8U, 8U}) {
        shown += keeps(by_session, step_of(session)) ? 'x' : '.';
    }
    EXPECT_EQ(shown, "xxx.x.x");
    const elog::sampling_report report = by_session.report();
    EXPECT_EQ(report.kept, 5U);
    EXPECT_EQ(report.by_sampling, 2U);
    ASSERT_EQ(report.events.size(), 2U);
    EXPECT_EQ(report.events[0].every, 1U);
    EXPECT_EQ(report.events[0].kept, 3U);
    EXPECT_EQ(report.events[1].every, 3U);
    EXPECT_EQ(report.events[1].by_sampling, 2U);
}

TEST_F(sampler, limits_records_of_each_second) {
    elog::record_sampler limited = make_sampler({{"p", 1}}, 2);
    start(limited);
    std::string shown;
    for (const std::uint64_t time : {0U, 1U, 2U, 999'999'999U, 1'000'000'000U, 1'500'000'000U}) {
        shown += keeps(limited, maker.record("one"), time) ? 'x' : '.';
    }
    EXPECT_EQ(shown, "xx..xx");
    EXPECT_EQ(limited.report().by_rate, 2U);
    EXPECT_EQ(limited.report().events.at(0).by_rate, 2U);
    EXPECT_EQ(limited.report().max_rate, 2U);
}

TEST_F(sampler, limits_what_sampling_keeps) {
    elog::record_sampler limited = make_sampler({{"p", 3}}, 2);
    start(limited);
    EXPECT_EQ(course(limited, "one", 9), "x..x.....");
    const elog::sampling_report report = limited.report();
    EXPECT_EQ(report.kept, 2U);
    EXPECT_EQ(report.by_sampling, 6U);
    EXPECT_EQ(report.by_rate, 1U);
}

TEST_F(sampler, counts_custom_time_with_record_before) {
    elog::record_sampler limited = make_sampler({{"p", 1}}, 1);
    start(limited);
    EXPECT_TRUE(keeps(limited, maker.record("one"), second, 0));
    EXPECT_FALSE(keeps(limited, maker.record("one"), 100 * second, 0, EVENTLOG_RECORD_CUSTOM_TIME));
    // No record came before on this ring: its time is that of the beginning.
    EXPECT_TRUE(keeps(limited, maker.record("one"), 100 * second, 1, EVENTLOG_RECORD_CUSTOM_TIME));
    EXPECT_TRUE(keeps(limited, maker.record("one"), 100 * second, 1));
}

TEST_F(sampler, keeps_unknown_records) {
    elog::record_sampler rare = make_sampler({{"p", 1000}});
    start(rare);
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(keeps(rare, maker.record("one"), 0, 0, 0x80));
        test_record unknown = maker.record("one");
        unknown.header().provider = 99;
        EXPECT_TRUE(keeps(rare, unknown));
        unknown.header().provider = 0;
        unknown.header().event = 99;
        EXPECT_TRUE(keeps(rare, unknown));
    }
    EXPECT_EQ(rare.report().kept, 6U);
    EXPECT_TRUE(rare.report().events.empty());
}

TEST_F(sampler, keeps_events_that_no_pattern_selects) {
    elog::record_sampler rare = make_sampler({{"p:one", 1000}});
    start(rare);
    EXPECT_EQ(course(rare, "two", 3), "xxx");
}

TEST_F(sampler, conserves_number_of_records) {
    eventlog::test::random_source random(30);
    for (int trial = 0; trial < 50; ++trial) {
        elog::record_sampler any = make_sampler(
            {{"p:one", 1 + random.below(5)}, {"p", 1 + random.below(7)}}, random.below(4));
        start(any);
        std::uint64_t kept = 0;
        const std::uint64_t records = random.below(500);
        for (std::uint64_t i = 0; i < records; ++i) {
            const test_record record = maker.record(random.below(2) == 0 ? "one" : "two");
            kept += keeps(any, record, random.below(20 * second),
                          static_cast<std::uint32_t>(random.below(2)))
                        ? 1
                        : 0;
        }
        const elog::sampling_report report = any.report();
        EXPECT_EQ(report.kept, kept);
        EXPECT_EQ(any.kept(), kept);
        EXPECT_EQ(report.kept + report.omitted(), records);
        elog::sampling_report sum;
        for (const elog::sampled_event& each : report.events) {
            sum.kept += each.kept;
            sum.by_sampling += each.by_sampling;
            sum.by_rate += each.by_rate;
            // Of all records of the event, each first one of N passed sampling.
            const std::uint64_t attempted = each.kept + each.omitted();
            EXPECT_EQ(each.kept + each.by_rate, (attempted + each.every - 1) / each.every);
        }
        EXPECT_EQ(sum.kept, report.kept);
        EXPECT_EQ(sum.by_sampling, report.by_sampling);
        EXPECT_EQ(sum.by_rate, report.by_rate);
    }
}

TEST(sampling_report, saturates) {
    std::uint64_t count = UINT64_MAX - 1;
    elog::add_saturating(count, 1);
    EXPECT_EQ(count, UINT64_MAX);
    elog::add_saturating(count, 1);
    EXPECT_EQ(count, UINT64_MAX);
    elog::sampling_report report;
    report.by_sampling = UINT64_MAX;
    report.by_rate = 5;
    EXPECT_EQ(report.omitted(), UINT64_MAX);
}

}  // namespace
