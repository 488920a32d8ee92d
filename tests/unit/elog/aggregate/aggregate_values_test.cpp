// SPDX-License-Identifier: MIT
//
// How results and keys of aggregations are shown.
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "aggregate/aggregator.hpp"
#include "aggregation_fixture.hpp"
#include "record_builder.hpp"

namespace {

using namespace aggregation_test;

TEST_F(aggregations, keep_all_digits_of_integers) {
    aggregator computed =
        make("max(address), min(flags), max(spent), max(at), avg(at), avg(when), avg(address)");
    for (const std::uint64_t more : {std::uint64_t{0}, std::uint64_t{2}}) {
        test_record record = net.record("traced");
        record.set("address", 0xffff880012345678 + more);
        record.set("flags", std::int64_t{-2});
        record.set("spent", (std::uint64_t{1} << 63U) + more);
        record.set("at", 9'007'199'254'740'993 + more);
        record.set("when", 1'600'000'000'123'456'787 + static_cast<std::int64_t>(more));
        take(computed, record);
    }
    const std::string shown = table(computed);
    for (const char* text :
         {"0xffff88001234567a", "0xfffffffe", "9223372036.85477581s", "9007199.254740995s",
          "9007199.254740994s", "2020-09-13T12:26:40.123456788Z", "18446612132619638393"}) {
        EXPECT_NE(shown.find(text), std::string::npos) << text << "\n" << shown;
    }
    EXPECT_NE(json(computed).find("\"avg(when)\":1600000000123456788"), std::string::npos)
        << json(computed);
}

TEST_F(aggregations, show_every_bucket_in_the_format_of_the_field) {
    aggregator computed = make("hist(address), quantize(address)");
    for (const std::uint64_t address :
         {std::uint64_t{0x7fffffffffffffff}, std::uint64_t{0x8000000000000001}}) {
        test_record record = net.record("traced");
        record.set("address", address);
        take(computed, record);
    }
    const std::string shown = table(computed);
    for (const char* text : {"  0x7fffffffffffffff  1", "  0x8000000000000001  1",
                             "  0x4000000000000000  1", "  0x8000000000000000  1"}) {
        EXPECT_NE(shown.find(text), std::string::npos) << text << "\n" << shown;
    }
}

TEST_F(aggregations, sort_by_all_digits) {
    aggregator computed = make("max(bytes) by why");
    for (const auto& [key, value] :
         {std::pair{"a", std::uint64_t{1} << 60U}, std::pair{"b", (std::uint64_t{1} << 60U) + 1}}) {
        test_record record = net.record("packet");
        record.set_text("why", key);
        record.set("bytes", value);
        take(computed, record);
    }
    EXPECT_EQ((*computed.rows()[0].keys)[0].shown, "b");
}

TEST_F(aggregations, show_large_averages_without_exponent) {
    aggregator computed = make("avg(bytes), avg(share)");
    test_record record = net.record("packet");
    record.set("bytes", std::uint64_t{12'345'678});
    record.set("share", 12'345'678.25);
    take(computed, record);
    EXPECT_EQ(table(computed), "avg(bytes)  avg(share)\n"
                               "  12345678    12345678\n"
                               "1 events, 0 lost\n");
}

TEST_F(aggregations, show_different_texts_differently) {
    aggregator counted = make("count() by why");
    for (const char* text : {"a\nb", R"(a\nb)"}) {
        test_record record = net.record("packet");
        record.set_text("why", text);
        take(counted, record);
    }
    const std::string shown = table(counted);
    EXPECT_NE(shown.find("\na\\nb "), std::string::npos) << shown;
    EXPECT_NE(shown.find("\na\\\\nb "), std::string::npos) << shown;
}

TEST_F(aggregations, quote_texts_that_look_like_others) {
    aggregator counted = make("count() by why");
    take(counted, net.record("packet"));  // a null text
    for (const char* text : {"-", R"("-")", "a", " a", "a ", " ", "a b"}) {
        test_record record = net.record("packet");
        record.set_text("why", text);
        take(counted, record);
    }
    std::set<std::string> keys;
    for (const aggregator::row& row : counted.rows()) {
        keys.insert((*row.keys)[0].shown);
    }
    EXPECT_EQ(keys, (std::set<std::string>{"-", R"("-")", R"("\"-\"")", "a", R"(" a")", R"("a ")",
                                           R"(" ")", "a b"}));
}

TEST_F(aggregations, distinguish_keys_that_are_no_numbers) {
    using limits = std::numeric_limits<double>;
    aggregator computed = make("count() by ratio");
    for (const double value : {limits::quiet_NaN(), -limits::quiet_NaN(), limits::infinity(),
                               -limits::infinity(), 1.5, 0.0, -0.0}) {
        test_record record = net.record("traced");
        record.set("ratio", value);
        take(computed, record);
    }
    take(computed, net.record("traced"));  // without a value
    const std::string said = json(computed);
    for (const auto& [key, count] : {std::pair{"\"NaN\"", "2"}, std::pair{"\"Infinity\"", "1"},
                                     std::pair{"\"-Infinity\"", "1"}, std::pair{"null", "1"},
                                     std::pair{"1.5", "1"}, std::pair{"0", "2"}}) {
        const std::string group =
            std::string("\"ratio\":") + key + "},\"values\":{\"count()\":" + count + "}";
        EXPECT_NE(said.find(group), std::string::npos) << group << "\n" << said;
    }
    EXPECT_EQ(computed.groups(), 6U);
}

TEST_F(aggregations, escape_terminal_control_characters) {
    aggregator counted = make("count() by why");
    test_record record = net.record("packet");
    record.set_text("why", "a\x1b[31m\"\xff");
    take(counted, record);
    EXPECT_EQ(table(counted).find('\x1b'), std::string::npos);
    EXPECT_NE(json(counted).find("\"why\":\"a\\u001b[31m\\\"\\ufffd\""), std::string::npos)
        << json(counted);
}

TEST_F(aggregations, format_values_like_fields) {
    aggregator computed = make("sum(took), avg(took), max(size)");
    test_record record = net.record("packet");
    record.set("took", std::int64_t{1'500'000});
    record.set("size", std::uint64_t{2048});
    take(computed, record);
    EXPECT_EQ(table(computed), "sum(took)  avg(took)  max(size)\n"
                               "    1.5ms      1.5ms       2KiB\n"
                               "1 events, 0 lost\n");
}

TEST_F(aggregations, handle_nan) {
    aggregator computed = make("sum(share), max(share), quantize(share), hist(share, 1)");
    for (const double value : {std::numeric_limits<double>::quiet_NaN(), 1.5,
                               std::numeric_limits<double>::infinity(), 1e300}) {
        test_record record = net.record("packet");
        record.set("share", value);
        take(computed, record);
    }
    const std::string said = json(computed);
    EXPECT_NE(said.find(R"-("sum(share)":"NaN","max(share)":"Infinity",)-"), std::string::npos)
        << said;
    EXPECT_NE(said.find("{\"buckets\":[{\"from\":1,\"to\":2,\"count\":1}],\"outside\":3}"),
              std::string::npos)
        << said;
}

}  // namespace
