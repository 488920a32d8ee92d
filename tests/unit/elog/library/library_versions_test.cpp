// SPDX-License-Identifier: MIT
//
// A reader written for one version of a provider reads a file with three versions. Fields that
// another version lacks, or has with another type, have no value; no field has a wrong value.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <elog/elog.hpp>

#include "file/file_writer.hpp"
#include "record_builder.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;

constexpr std::string_view first_version =
    "provider shop { event order info { number: u32 name: text } }";
constexpr std::string_view appended_version =
    "provider shop { event order info { number: u32 name: text price: u64 gift: bool? } "
    "event refund warn { price: u64 } }";
/// Number and name have other types, and so other offsets.
constexpr std::string_view retyped_version =
    "provider shop { event order info { number: text name: u64 price: u64 } }";

/// A file with orders of all three versions: one, two, two and a refund, one.
std::string make_versions(const std::string& name) {
    const test::record_builder first(first_version, "old", 1, 0);
    const test::record_builder appended(appended_version, "new", 2, 1);
    const test::record_builder retyped(retyped_version, "other", 3, 2);
    test::bytes all;
    std::uint64_t time = 0;
    const auto add = [&](test::test_record& made) {
        made.header().time = ++time;
        const test::bytes bytes = made.bytes();
        all.insert(all.end(), bytes.begin(), bytes.end());
    };
    const auto add_plain = [&](const test::record_builder& maker, std::uint64_t number,
                               const char* whose, std::uint64_t price) {
        test::test_record made = maker.record("order");
        made.set("number", number);
        made.set_text("name", whose);
        if (price != 0) {
            made.set("price", price);
        }
        if (price == 30) {
            made.set("gift", std::uint64_t{1});
        }
        add(made);
    };
    add_plain(first, 1, "ann", 0);
    add_plain(appended, 2, "ben", 20);
    add_plain(appended, 3, "eve", 30);
    test::test_record refund = appended.record("refund");
    refund.set("price", std::uint64_t{20});
    add(refund);
    for (const std::uint64_t price : {std::uint64_t{40}, std::uint64_t{50}}) {
        test::test_record made = retyped.record("order");
        made.set_text("number", "four");
        made.set("name", std::uint64_t{0x6e6e61});
        made.set("price", price);
        add(made);
    }
    std::string path = test::scratch_directory() + "/library_" + name;
    elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 2);
    writer.write_clock({0, 0, 1'000'000'000});
    for (const test::record_builder* maker : {&first, &appended, &retyped}) {
        writer.write_provider(maker->provider());
    }
    writer.write_run({.ring = 0, .count = 6, .bytes = all});
    writer.write_end();
    return path;
}

/// The orders and refunds, each as process, number and price in text form.
std::vector<std::string> read(elog::source& source) {
    std::vector<std::string> found;
    for (const elog::record& record : source) {
        found.push_back(std::string(record.process()) + ' ' + record["number"].text() + ' ' +
                        record["price"].text());
    }
    return found;
}

using texts = std::vector<std::string>;

TEST(library_versions, give_a_value_by_name_only_if_that_version_has_it_with_that_type) {
    elog::source source = elog::open(make_versions("typed.elog"));
    std::vector<std::optional<std::uint32_t>> numbers;
    std::vector<std::optional<std::string_view>> names;
    std::vector<std::optional<std::uint64_t>> prices;
    std::vector<elog::value_state> gifts;
    for (const elog::record& record : source) {
        if (record.name() != "order") {
            continue;
        }
        numbers.push_back(record["number"].as<std::uint32_t>());
        prices.push_back(record["price"].as<std::uint64_t>());
        gifts.push_back(record["gift"].state());
        const std::optional<std::string_view> name = record["name"].as<std::string_view>();
        EXPECT_EQ(name.has_value(), record.process() != "other");
        if (record.process() == "old") {
            EXPECT_EQ(name, "ann");
        }
        if (record.process() == "other") {
            EXPECT_EQ(record["name"].as<std::uint64_t>(), 0x6e6e61U);
            EXPECT_EQ(record["number"].as<std::string_view>(), "four");
        }
    }
    using numbers_of = std::vector<std::optional<std::uint32_t>>;
    using prices_of = std::vector<std::optional<std::uint64_t>>;
    EXPECT_EQ(numbers, (numbers_of{1, 2, 3, std::nullopt, std::nullopt}));
    EXPECT_EQ(prices, (prices_of{std::nullopt, 20, 30, 40, 50}));
    using elog::value_state;
    EXPECT_EQ(gifts, (std::vector{value_state::no_field, value_state::absent, value_state::present,
                                  value_state::no_field, value_state::no_field}));
    EXPECT_TRUE(source.complaints().empty());
    EXPECT_EQ(source.totals().left_out, 0U);
}

TEST(library_versions, have_separate_field_indexes) {
    elog::source source = elog::open(make_versions("index.elog"));
    std::vector<std::uint64_t> prices;
    std::optional<elog::event> known;
    std::optional<std::size_t> index;
    std::size_t lookups = 0;
    for (const elog::record& record : source) {
        if (record.event() != known) {
            known = record.event();
            index = known->find("price");
            ++lookups;
        }
        if (index) {
            prices.push_back(record[*index].as<std::uint64_t>().value_or(0));
        }
    }
    EXPECT_EQ(prices, (std::vector<std::uint64_t>{20, 30, 20, 40, 50}));
    EXPECT_EQ(lookups, 4U);
}

TEST(library_versions, lacking_a_field_are_not_compared) {
    const std::string path = make_versions("lack.elog");
    elog::source dear = elog::open(path, {.where = "price > 20"});
    EXPECT_EQ(read(dear), (texts{"new 3 30", "other \"four\" 40", "other \"four\" 50"}));
    elog::source cheap = elog::open(path, {.where = "!(price > 20)"});
    EXPECT_EQ(read(cheap), (texts{"new 2 20", "new  20"}));
    elog::source without = elog::open(path, {.where = "!has(price)"});
    EXPECT_EQ(read(without), (texts{"old 1 "}));
    for (const elog::source* source : {&dear, &cheap, &without}) {
        EXPECT_EQ(source->totals().left_out, 0U);
        EXPECT_TRUE(source->complaints().empty());
    }
}

TEST(library_versions, with_type_mismatch_are_skipped_and_counted) {
    const std::string path = make_versions("unsuited_version.elog");
    elog::source source = elog::open(path, {.where = "number >= 2"});
    EXPECT_EQ(read(source), (texts{"new 2 20", "new 3 30"}));
    EXPECT_EQ(source.totals().records, 2U);
    EXPECT_EQ(source.totals().left_out, 2U);
    EXPECT_EQ(source.complaints(),
              (texts{"2 events of shop:order by another version of its provider were left out: "
                     "where, column 11: 'number' of shop:order is a text, and this is a number: "
                     "they cannot be compared."}));

    elog::source words = elog::open(path, {.where = "number == \"four\" || price == 20"});
    EXPECT_EQ(read(words), (texts{"new  20", "other \"four\" 40", "other \"four\" 50"}));
    EXPECT_EQ(words.totals().left_out, 3U);
}

TEST(library_versions, are_counted_once_in_several_sources) {
    std::vector<elog::source> parts;
    for (const char* name : {"part1.elog", "part2.elog"}) {
        parts.push_back(elog::open(make_versions(name), {.where = "number < 2"}));
    }
    elog::source both = elog::merge(std::move(parts));
    EXPECT_EQ(read(both), (texts{"old 1 ", "old 1 "}));
    EXPECT_EQ(both.totals().left_out, 4U);
}

}  // namespace
