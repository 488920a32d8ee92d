// SPDX-License-Identifier: MIT
//
// Aggregations against simple computations over the same values, and the errors of aggregations
// that cannot be computed.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "aggregate/aggregator.hpp"
#include "aggregation_fixture.hpp"
#include "record/time_merger.hpp"
#include "record_builder.hpp"

namespace {

using namespace aggregation_test;

TEST_F(aggregations, count_by_event) {
    aggregator counted = make("count() by event");
    for (int i = 0; i < 3; ++i) {
        take(counted, net.record("packet"));
    }
    take(counted, net.record("other"));
    counted.note_missing({5, 0});
    EXPECT_EQ(table(counted), "event   count()\n"
                              "packet        3  ###########################################\n"
                              "other         1  ##############\n"
                              "4 events, 5 lost\n");
    EXPECT_EQ(json(counted),
              "{\"version\":1,\"events\":4,\"lost\":5,\"overwritten\":0,\"overflowed\":0,"
              "\"damaged\":0,\"unknown\":0,\"type_mismatches\":0,\"groups\":["
              "{\"key\":{\"event\":\"packet\"},\"values\":{\"count()\":3}},"
              "{\"key\":{\"event\":\"other\"},\"values\":{\"count()\":1}}]}\n");
}

TEST_F(aggregations, agree_with_a_simple_computation_on_integers) {
    aggregator computed =
        make("count(), sum(left), avg(left), min(left), max(left), stddev(left) by why");
    std::mt19937_64 random(1);
    std::map<std::string, std::vector<std::int64_t>> expected;
    for (int i = 0; i < 5000; ++i) {
        // Of all sizes, and with a large offset, at which a naive deviation loses its precision.
        const auto small = static_cast<std::int64_t>(random() >> (random() % 64));
        const bool is_near = i % 2 == 0;
        const std::int64_t value = is_near ? 4'000'000'000'000'000'000 + small % 10 : small;
        const std::string key = (is_near ? "near" : "far") + std::to_string(random() % 7);
        expected[key].push_back(value);
        test_record record = net.record("packet");
        record.set("left", value);
        record.set_text("why", key.c_str());
        take(computed, record);
    }
    const auto rows = computed.rows();
    ASSERT_EQ(rows.size(), expected.size());
    for (const aggregator::row& row : rows) {
        const std::vector<std::int64_t>& values = expected.at((*row.keys)[0].shown);
        wide_integer sum = 0;
        for (const std::int64_t value : values) {
            sum += value;
        }
        const auto number = static_cast<long double>(values.size());
        long double squares = 0;
        for (const std::int64_t value : values) {
            // The distance from an exact multiple loses no bits.
            const wide_integer distance =
                wide_integer{value} * static_cast<wide_integer>(values.size()) - sum;
            squares += static_cast<long double>(distance) * static_cast<long double>(distance);
        }
        EXPECT_EQ(row.values[0].count(), values.size());
        EXPECT_TRUE(row.values[1].sum() == sum);
        EXPECT_DOUBLE_EQ(row.values[2].average(),
                         static_cast<double>(static_cast<long double>(sum) / number));
        EXPECT_TRUE(row.values[3].smallest() == *std::min_element(values.begin(), values.end()));
        EXPECT_TRUE(row.values[4].largest() == *std::max_element(values.begin(), values.end()));
        EXPECT_DOUBLE_EQ(row.values[5].standard_deviation(),
                         static_cast<double>(std::sqrt(squares / number) / number));
    }
}

TEST_F(aggregations, sum_beyond_64_bits) {
    aggregator computed = make("sum(bytes), stddev(bytes), max(bytes)");
    test_record record = net.record("packet");
    record.set("bytes", std::numeric_limits<std::uint64_t>::max());
    for (int i = 0; i < 1000; ++i) {
        take(computed, record);
    }
    EXPECT_NE(json(computed).find("\"sum(bytes)\":18446744073709551615000,\"stddev(bytes)\":0,"
                                  "\"max(bytes)\":18446744073709551615}"),
              std::string::npos)
        << json(computed);
}

TEST_F(aggregations, sum_exactly_where_floats_lose_precision) {
    aggregator computed = make("sum(share), avg(share), min(share), max(share), stddev(share)");
    for (const double value : {1e16, 1.0, 1.0, -1e16}) {
        test_record record = net.record("packet");
        record.set("share", value);
        take(computed, record);
    }
    const auto rows = computed.rows();
    EXPECT_EQ(rows[0].values[0].floating_sum(), 2.0);
    EXPECT_EQ(rows[0].values[1].average(), 0.5);
    EXPECT_EQ(rows[0].values[2].floating_smallest(), -1e16);
    EXPECT_EQ(rows[0].values[3].floating_largest(), 1e16);
    EXPECT_DOUBLE_EQ(rows[0].values[4].standard_deviation(), std::sqrt(0.5e32));
}

TEST_F(aggregations, quantize_at_powers_of_two) {
    aggregator computed = make("quantize(left)");
    const auto add = [&](std::int64_t value) {
        test_record record = net.record("packet");
        record.set("left", value);
        take(computed, record);
    };
    for (const std::int64_t value : {0, 1, 2, 3, 4, 7, 8, -1, -2, -3, -4}) {
        add(value);
    }
    add(INT64_MAX);
    add(INT64_MIN);
    const std::string said = json(computed);
    for (const char* part :
         {R"({"from":-18446744073709551615,"to":-9223372036854775807,"count":1})",
          R"({"from":-7,"to":-3,"count":1})", R"({"from":-3,"to":-1,"count":2})",
          R"({"from":-1,"to":0,"count":1})", R"({"from":0,"to":1,"count":1})",
          R"({"from":1,"to":2,"count":1})", R"({"from":2,"to":4,"count":2})",
          R"({"from":4,"to":8,"count":2})", R"({"from":8,"to":16,"count":1})",
          R"({"from":4611686018427387904,"to":9223372036854775808,"count":1})"}) {
        EXPECT_NE(said.find(part), std::string::npos) << part << "\n" << said;
    }
}

TEST_F(aggregations, draw_histograms_independent_of_order) {
    std::vector<std::int64_t> values;
    std::mt19937_64 random(3);
    for (int i = 0; i < 1000; ++i) {
        values.push_back(static_cast<std::int64_t>(random() % 10'000) - 3000);
    }
    const auto draw = [&] {
        aggregator computed = make("hist(left)");
        for (const std::int64_t value : values) {
            test_record record = net.record("packet");
            record.set("left", value);
            take(computed, record);
        }
        // Each bucket counts the values in its range.
        const auto rows = computed.rows();
        const elog::histogram& counts = rows[0].values[0].buckets();
        EXPECT_LE(counts.buckets().size(), elog::histogram::automatic_max);
        EXPECT_TRUE(counts.width() == 500);
        for (const elog::histogram::bucket& bucket : counts.buckets()) {
            const wide_integer begin = bucket.index * counts.width();
            EXPECT_EQ(bucket.count, static_cast<std::uint64_t>(std::count_if(
                                        values.begin(), values.end(), [&](std::int64_t value) {
                                            return value >= begin && value < begin + counts.width();
                                        })));
        }
        return json(computed);
    };
    const std::string first = draw();
    std::sort(values.begin(), values.end());
    EXPECT_EQ(draw(), first);
    std::reverse(values.begin(), values.end());
    EXPECT_EQ(draw(), first);
}

TEST_F(aggregations, draw_histograms_with_requested_step) {
    aggregator computed = make("hist(took, 10ms)");
    for (const std::int64_t value : {0, 9'999'999, 10'000'000, -1, 25'000'000}) {
        test_record record = net.record("packet");
        record.set("took", value);
        take(computed, record);
    }
    EXPECT_EQ(table(computed), "hist(took, 10ms)\n"
                               "  -10ms  1  #######################\n"
                               "    0ns  2  ###############################################\n"
                               "   10ms  1  #######################\n"
                               "   20ms  1  #######################\n"
                               "5 events, 0 lost\n");
}

TEST_F(aggregations, collapse_empty_buckets) {
    aggregator computed = make("hist(left, 1)");
    for (const std::int64_t value : {0, 4, 9}) {
        test_record record = net.record("packet");
        record.set("left", value);
        take(computed, record);
    }
    const std::string bar(51, '#');
    EXPECT_EQ(table(computed), "hist(left, 1)\n  0  1  " + bar +
                                   "\n  1  0\n  2  0\n  3  0\n  4  1  " + bar +
                                   "\n  ...\n  9  1  " + bar + "\n3 events, 0 lost\n");
}

TEST_F(aggregations, count_out_of_range_values) {
    aggregator computed = make("hist(left, 1)");
    for (const std::int64_t value : {0, 999, 1000, -1}) {
        test_record record = net.record("packet");
        record.set("left", value);
        take(computed, record);
    }
    EXPECT_NE(json(computed).find("\"outside\":2}"), std::string::npos);
}

TEST_F(aggregations, separate_keys_and_format_them_like_fields) {
    aggregator counted = make("count() by state, peer, row[1], maybe, good");
    test_record record = net.record("packet");
    record.set("state", std::uint64_t{1});
    record.set_bytes("peer", {10, 0, 0, 1});
    record.set_bytes("row", {5, 6});
    take(counted, record);
    record.set("maybe", std::uint64_t{3});
    take(counted, record);
    take(counted, record);
    EXPECT_NE(json(counted).find("{\"key\":{\"state\":\"open\",\"peer\":\"10.0.0.1\",\"row[1]\":6,"
                                 "\"maybe\":3,\"good\":false},\"values\":{\"count()\":2}},"
                                 "{\"key\":{\"state\":\"open\",\"peer\":\"10.0.0.1\",\"row[1]\":6,"
                                 "\"maybe\":null,\"good\":false},\"values\":{\"count()\":1}}"),
              std::string::npos)
        << json(counted);
}

TEST_F(aggregations, combine_same_named_fields_of_several_events) {
    aggregator computed = make("sum(bytes) by why");
    test_record packet = net.record("packet");
    packet.set("bytes", std::uint64_t{5});
    packet.set_text("why", "x");
    take(computed, packet);
    test_record other = net.record("other");
    other.set("bytes", std::uint64_t{7});
    other.set_text("why", "x");
    take(computed, other);
    EXPECT_EQ(computed.groups(), 1U);
    EXPECT_NE(json(computed).find("\"sum(bytes)\":12"), std::string::npos);
}

TEST_F(aggregations, skip_events_without_field) {
    aggregator computed = make("sum(left) by event");
    take(computed, net.record("packet"));
    take(computed, net.record("other"));
    EXPECT_EQ(computed.groups(), 1U);
    EXPECT_EQ(computed.taken(), 1U);
    aggregator optional = make("max(maybe), count(maybe)");
    take(optional, net.record("packet"));
    EXPECT_EQ(optional.groups(), 0U);
}

TEST_F(aggregations, limit_keys_and_count_remainder) {
    aggregator counted = make("count() by bytes", 10);
    for (std::uint64_t i = 0; i < 25; ++i) {
        test_record record = net.record("packet");
        record.set("bytes", i % 20);
        take(counted, record);
    }
    EXPECT_EQ(counted.groups(), 10U);
    EXPECT_EQ(counted.taken(), 15U);
    EXPECT_EQ(counted.overflowed(), 10U);
    ASSERT_EQ(elog::incompleteness_warnings(counted).size(), 1U);
    EXPECT_TRUE(
        elog::incompleteness_warnings(counted)[0].starts_with("10 events had other keys than"));
}

TEST_F(aggregations, show_only_top_entries) {
    for (const char* text : {"top(2, bytes)", "count() by bytes | top 2"}) {
        aggregator counted = make(text);
        for (std::uint64_t i = 0; i < 100; ++i) {
            test_record record = net.record("packet");
            record.set("bytes", static_cast<std::uint64_t>(std::sqrt(static_cast<double>(i))));
            take(counted, record);
        }
        const auto rows = counted.rows();
        ASSERT_EQ(rows.size(), 2U);
        EXPECT_EQ((*rows[0].keys)[0].shown, "9");
        EXPECT_EQ(rows[0].values[0].count(), 19U);
        EXPECT_NE(table(counted).find("... and 8 more\n"), std::string::npos);
    }
}

TEST_F(aggregations, count_overwritten_events_apart_from_lost_ones) {
    aggregator counted = make("count()");
    take(counted, net.record("packet"));
    counted.note_missing(elog::missing_of(elog::trailing_loss(0, 10, 7)));
    elog::merged_record before;
    before.lost_before = 3;
    before.overwritten = true;
    counted.note_missing(elog::missing_before(before));
    EXPECT_EQ(table(counted), "count()\n      1\n1 events, 3 lost, 10 overwritten\n");
    EXPECT_NE(json(counted).find(R"("events":1,"lost":3,"overwritten":10,)"), std::string::npos);
}

TEST_F(aggregations, reset_to_empty) {
    aggregator counted = make("count() by event");
    take(counted, net.record("packet"));
    counted.note_missing({1, 2});
    EXPECT_TRUE(counted.has_results());
    counted.reset_values();
    EXPECT_FALSE(counted.has_results());
    EXPECT_EQ(counted.groups(), 0U);
    take(counted, net.record("packet"));
    EXPECT_NE(json(counted).find("\"count()\":1}"), std::string::npos);
}

TEST_F(aggregations, count_mismatched_records_and_records_of_unknown_providers) {
    aggregator computed = make("sum(bytes)");
    test_record record = net.record("packet");
    elog::record_view cut = record.view();
    cut.payload = cut.payload.first(4);
    computed.take(cut, record_builder::clock());
    EXPECT_EQ(computed.damaged(), 1U);
    record.header().provider = 9;
    take(computed, record);
    EXPECT_EQ(computed.unknown(), 1U);
    EXPECT_EQ(computed.taken(), 0U);
}

TEST_F(aggregations, draw_bars_in_eighths_with_utf_8) {
    aggregator counted = make("count() by event");
    for (int i = 0; i < 100; ++i) {
        take(counted, net.record("packet"));
    }
    take(counted, net.record("other"));
    EXPECT_NE(table(counted, true).find("other         1  \xe2\x96\x8d\n"), std::string::npos)
        << table(counted, true);
}

TEST_F(aggregations, invalid_are_rejected_with_column) {
    expect_rejection("summ(bytes)", 1, "Did you mean 'sum'?");
    expect_rejection("sum(bites)", 5, "Did you mean 'bytes'?");
    expect_rejection("sum()", 5, "A field is missing");
    expect_rejection("count() by", 11, "A field is missing");
    expect_rejection("count() of x", 9, "'of' does not belong here");
    expect_rejection("count() by evnt", 12, "Did you mean 'event'?");
    expect_rejection("sum(why)", 5, "is a text");
    expect_rejection("sum(row)", 5, "is an array");
    expect_rejection("count() by row", 12, "is an array");
    expect_rejection("sum(left)", 5, "is a text");
    expect_rejection("sum(took)", 5, "another unit than that of other events");
    expect_rejection("count() by why, bytes, why", 24, "'why' is there twice");
    expect_rejection("count(), sum(bytes), count()", 22, "'count()' is there twice");
    expect_rejection("top(3, why, why)", 13, "'why' is there twice");
    expect_rejection("hist(share)", 1, "say how wide a bucket is");
    expect_rejection("hist(bytes, 0.5)", 13, "must be one, too");
    expect_rejection("hist(bytes, 5ms)", 13, "is no time");
    expect_rejection("hist(bytes, 0)", 13, "above 0");
    expect_rejection("count() | top", 14, "The number of rows");
    expect_rejection("count() | first 3", 11, "top with a number");
    expect_rejection("top(0, event)", 5, "The number of rows");
    expect_rejection("count(", 7, "A field is missing");
    EXPECT_NE(rejection("").find("no function"), std::string::npos);
}

TEST(aggregation_versions, with_mismatched_types_are_skipped_and_counted) {
    const record_builder one(
        R"(provider shop { event order info { took: u32 unit "ms" by: text } })", "one", 1, 0);
    // A mismatched version must not decide the unit of the other versions: its `took` is the first
    // one.
    const record_builder other(R"(provider shop { event order info { took: u32 unit "s" by: bytes }
                                event refund info { by: text } })",
                               "other", 2, 1);
    const record_builder text("provider shop { event order info { took: text by: text } }", "text",
                              3, 2);
    elog::record_filter filter(elog::predicate("--where", "comm != \"quiet\""), 0);
    aggregator made(aggregation::parse("The aggregation", "count(), sum(took)"), &filter, 10);
    for (const record_builder* version : {&text, &one, &other}) {
        filter.add(version->provider());
        try {
            made.add(version->provider());
        } catch (const elog::user_error&) {  // check_types decides whether it is an error
        }
    }
    EXPECT_NO_THROW(made.check_types());
    for (const record_builder* version : {&one, &other, &text, &one}) {
        test_record record = version->record("order");
        if (version == &text) {
            record.set_text("took", "long");
        } else {
            record.set("took", std::uint64_t{5});
        }
        made.take(record.view(), record_builder::clock());
    }
    EXPECT_EQ(made.taken(), 2U);
    EXPECT_EQ(made.mismatches().counted(), 2U);
    EXPECT_EQ(made.mismatched_records(), 2U);
    const std::vector<std::string> said = made.mismatches().sentences();
    ASSERT_EQ(said.size(), 2U);
    EXPECT_TRUE(said[0].starts_with("1 events of shop:order by another version of its provider "
                                    "were left out: The aggregation, column 14: 'took' of "
                                    "shop:order is a text"))
        << said[0];
    EXPECT_NE(said[1].find("has another unit"), std::string::npos) << said[1];
    // The next interval starts without mismatched records.
    made.reset_values();
    EXPECT_EQ(made.mismatched_records(), 0U);
    EXPECT_FALSE(made.has_results());
    EXPECT_EQ(made.mismatches().counted(), 2U);
}

TEST(aggregation_versions, are_rejected_if_no_version_matches) {
    const record_builder lacking("provider shop { event order info { number: u32 } }", "one", 1, 0);
    const record_builder other("provider shop { event order info { took: text } }", "other", 2, 1);
    aggregator made(aggregation::parse("The aggregation", "sum(took)"), nullptr, 10);
    made.add(lacking.provider());
    EXPECT_THROW(made.add(other.provider()), elog::user_error);
    EXPECT_THROW(made.check_types(), elog::user_error);
}

}  // namespace
