// SPDX-License-Identifier: MIT
//
// The values of fields in libelog.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <elog/elog.hpp>

#include "file/file_writer.hpp"
#include "record_builder.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;

constexpr std::string_view schema = R"(
provider shop "Sells" {
    keyword money = 3
    enum state : u8 { open = 1, paid = 2 }

    event sold warn [money] "Something was sold" {
        count: u32 unit "pieces"
        change: i16
        price: f64
        weight: f32
        gift: bool
        mark: char
        state: state
        customer: text
        note: text?
        discount: u8?
        steps: u16[3] unit "m"
        states: state[2]
        masks: u8[2] format hexadecimal
        tag: bytes
        place: u8[4]
    }
    event closed info {
        count: u64
    }
}
)";

/// A file of one record, open while the object lives.
class one_record {
  public:
    explicit one_record(const test::test_record& made) {
        const std::string path = test::scratch_directory() + "/library_value.elog";
        elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 2);
        writer.write_clock({0, 0, 1'000'000'000});
        writer.write_provider(maker().provider());
        const std::vector<std::uint8_t> bytes = made.bytes();
        writer.write_run({.ring = 0, .count = 1, .bytes = bytes});
        writer.write_end();
        source_.emplace(elog::open(path));
        record_ = source_->get();
        EXPECT_TRUE(record_.has_value());
    }

    [[nodiscard]] elog::value operator[](std::string_view field) const { return (*record_)[field]; }
    [[nodiscard]] const elog::record& record() const { return *record_; }

    [[nodiscard]] static const test::record_builder& maker() {
        static const test::record_builder made(schema, "till", 42);
        return made;
    }

  private:
    std::optional<elog::source> source_;
    std::optional<elog::record> record_;
};

test::test_record sold() {
    return one_record::maker().record("sold");
}

TEST(library_value, integer_converts_to_any_wide_enough_type) {
    test::test_record made = sold();
    made.set("count", std::uint64_t{300});
    made.set("change", std::int64_t{-5});
    const one_record record(made);
    EXPECT_EQ(record["count"].as<std::uint32_t>(), 300U);
    EXPECT_EQ(record["count"].as<std::int64_t>(), 300);
    EXPECT_EQ(record["count"].as<double>(), 300.0);
    EXPECT_EQ(record["count"].as<std::uint8_t>(), std::nullopt);
    EXPECT_EQ(record["count"].as<bool>(), std::nullopt);
    EXPECT_EQ(record["count"].as<std::string_view>(), std::nullopt);
    EXPECT_EQ(record["change"].as<int>(), -5);
    EXPECT_EQ(record["change"].as<std::int8_t>(), std::int8_t{-5});
    EXPECT_EQ(record["change"].as<std::uint64_t>(), std::nullopt);
    EXPECT_EQ(std::get<std::int64_t>(record["change"].get()), -5);
}

TEST(library_value, at_type_limits_converts_exactly) {
    test::test_record made = one_record::maker().record("closed");
    made.set("count", UINT64_MAX);
    const one_record record(made);
    EXPECT_EQ(record["count"].as<std::uint64_t>(), UINT64_MAX);
    EXPECT_EQ(record["count"].as<std::int64_t>(), std::nullopt);
    test::test_record lowest = sold();
    lowest.set("change", std::int64_t{INT16_MIN});
    const one_record low(lowest);
    EXPECT_EQ(low["change"].as<std::int16_t>(), std::int16_t{INT16_MIN});
    EXPECT_EQ(low["change"].as<std::int8_t>(), std::nullopt);
}

TEST(library_value, floating_point_does_not_convert_to_integer) {
    test::test_record made = sold();
    made.set("price", 2.5);
    made.set("weight", 0.25F);
    const one_record record(made);
    EXPECT_EQ(record["price"].as<double>(), 2.5);
    EXPECT_EQ(record["weight"].as<float>(), 0.25F);
    EXPECT_EQ(record["weight"].as<double>(), 0.25);
    EXPECT_EQ(record["price"].as<int>(), std::nullopt);
}

TEST(library_value, too_large_for_float_is_none) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto as_float = [](double number) {
        test::test_record made = sold();
        made.set("price", number);
        return one_record(made)["price"].as<float>();
    };
    EXPECT_EQ(as_float(0.1), 0.1F);
    EXPECT_EQ(as_float(1e300), std::nullopt);
    EXPECT_EQ(as_float(-1e300), std::nullopt);
    EXPECT_EQ(as_float(-infinity), -std::numeric_limits<float>::infinity());
    EXPECT_EQ(as_float(std::numeric_limits<float>::max()), std::numeric_limits<float>::max());
    EXPECT_TRUE(std::isnan(as_float(std::nan("")).value_or(0)));
}

TEST(library_value, converts_bool_char_and_enumeration) {
    enum class state : std::uint8_t { open = 1, paid = 2 };
    test::test_record made = sold();
    made.set("gift", std::uint64_t{1});
    made.set("mark", std::uint64_t{'x'});
    made.set("state", std::uint64_t{2});
    const one_record record(made);
    EXPECT_EQ(record["gift"].as<bool>(), true);
    EXPECT_EQ(record["gift"].as<int>(), 1);
    EXPECT_EQ(record["mark"].as<char>(), 'x');
    EXPECT_EQ(record["state"].as<state>(), state::paid);
    EXPECT_EQ(record["state"].name(), "paid");
    EXPECT_EQ(record["mark"].name(), "");
}

TEST(library_value, char_converts_to_char_and_code) {
    test::test_record made = sold();
    made.set("mark", std::uint64_t{0xe9});
    const one_record record(made);
    EXPECT_EQ(record["mark"].as<char>(), '\xe9');
    EXPECT_EQ(record["mark"].as<int>(), 0xe9);
    EXPECT_EQ(record["mark"].as<std::int8_t>(), std::nullopt);
}

TEST(library_value, text_and_bytes_are_views_into_record) {
    test::test_record made = sold();
    made.set_text("customer", "ann");
    made.set_text("tag", "ab");
    const one_record record(made);
    EXPECT_EQ(record["customer"].as<std::string_view>(), "ann");
    EXPECT_EQ(record["customer"].as<int>(), std::nullopt);
    const auto tag = record["tag"].as<std::span<const std::byte>>();
    ASSERT_TRUE(tag.has_value());
    ASSERT_EQ(tag->size(), 3U);
    EXPECT_EQ((*tag)[1], std::byte{98});
}

TEST(library_value, absent_reports_reason) {
    test::test_record made = sold();
    made.set_text("customer", nullptr);
    const one_record record(made);
    EXPECT_EQ(record["customer"].state(), elog::value_state::null);
    EXPECT_EQ(record["note"].state(), elog::value_state::absent);
    EXPECT_EQ(record["discount"].as<int>(), std::nullopt);
    EXPECT_EQ(record["count"].state(), elog::value_state::present);
    EXPECT_EQ(record["nothing"].state(), elog::value_state::no_field);
    EXPECT_EQ(record["nothing"].as<int>(), std::nullopt);
    EXPECT_EQ(record["nothing"].size(), 0U);
    EXPECT_EQ(record["nothing"].text(), "");
    EXPECT_EQ(record.record()[1000].state(), elog::value_state::no_field);
}

TEST(library_value, optional_is_present_when_set) {
    test::test_record made = sold();
    made.set("discount", std::uint64_t{20});
    made.set_text("note", "in a hurry");
    const one_record record(made);
    EXPECT_EQ(record["discount"].as<int>(), 20);
    EXPECT_EQ(record["note"].as<std::string_view>(), "in a hurry");
    EXPECT_TRUE(record.record().event()[9].is_optional());
}

TEST(library_value, array_has_elements) {
    test::test_record made = sold();
    made.set_bytes("steps", {1, 0, 2, 0, 3, 1});
    made.set_bytes("place", {10, 0, 0, 1});
    const one_record record(made);
    const elog::value steps = record["steps"];
    EXPECT_EQ(steps.size(), 3U);
    EXPECT_EQ(steps.state(), elog::value_state::present);
    EXPECT_EQ(steps.as<int>(), std::nullopt);
    EXPECT_EQ(steps[0].as<int>(), 1);
    EXPECT_EQ(steps[2].as<int>(), 259);
    EXPECT_EQ(steps[3].state(), elog::value_state::damaged);
    EXPECT_EQ(record["place"].as<std::span<const std::byte>>()->size(), 4U);
}

TEST(library_value, is_formatted_by_schema) {
    test::test_record made = sold();
    made.set("count", std::uint64_t{3});
    made.set("state", std::uint64_t{1});
    made.set_text("customer", "ann\n");
    const one_record record(made);
    EXPECT_EQ(record["count"].text(), "3pieces");
    EXPECT_EQ(record["state"].text(), "open");
    EXPECT_EQ(record["customer"].text(), "\"ann\\n\"");
    EXPECT_EQ(record["discount"].text(), "-");
}

TEST(library_value, element_is_formatted_by_schema) {
    test::test_record made = sold();
    made.set("count", std::uint64_t{3});
    made.set_bytes("steps", {1, 0, 2, 0, 3, 1});
    made.set_bytes("states", {2, 7});
    made.set_bytes("masks", {255, 1});
    made.set_bytes("place", {10, 0, 0, 1});
    const one_record record(made);
    EXPECT_EQ(record["steps"].text(), "[1,2,259]m");
    EXPECT_EQ(record["steps"][2].text(), "259m");
    EXPECT_EQ(record["states"][0].text(), "paid");
    EXPECT_EQ(record["states"][1].text(), "7");
    EXPECT_EQ(record["states"][2].text(), "<damaged>");
    EXPECT_EQ(record["masks"][0].text(), "0xff");
    EXPECT_EQ(record["place"][3].text(), "1");
    EXPECT_EQ(record["count"][0].text(), "3pieces");
    EXPECT_EQ(record["count"][1].text(), "<damaged>");
    EXPECT_EQ(record["discount"][0].text(), "-");
}

TEST(library_value, has_event_and_field_names) {
    const one_record record(sold());
    const elog::event event = record.record().event();
    EXPECT_EQ(event.provider(), "shop");
    EXPECT_EQ(event.name(), "sold");
    EXPECT_EQ(event.level(), elog::level::warn);
    EXPECT_EQ(event.description(), "Something was sold");
    EXPECT_TRUE(event.has_keyword("money"));
    EXPECT_FALSE(event.has_keyword("disk"));
    EXPECT_EQ(event[0].unit(), "pieces");
    EXPECT_EQ(event[10].size(), 3U);
    EXPECT_EQ(event[10].type(), "u16");
}

}  // namespace
