// SPDX-License-Identifier: MIT
//
// Values of sequences in records: as text, in JSON, in predicates, and damaged ones.
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "output/exported_value.hpp"
#include "predicate/predicate.hpp"
#include "predicate/record_filter.hpp"
#include "record_builder.hpp"
#include "schema/schema_text.hpp"
#include "schema/value_text.hpp"

namespace {

using eventlog::test::record_builder;
using eventlog::test::test_record;

constexpr std::string_view schema = R"(provider lab {
    enum color : u8 {
        red = 0,
        green = 1
    }

    event sample {
        number: u64
        delays: u32[] unit "us"
        colors: color[]
        reals: f64[]?
        masks: u16[] format hexadecimal
        waits: i64[] format duration
        answers: bool[]
        name: text
    }
}
)";

class sequence_values : public testing::Test {
  protected:
    record_builder lab{schema, "lab", 17};
    test_record sample = lab.record("sample");

    [[nodiscard]] const elog::field_schema& field(std::string_view name) const {
        for (const elog::field_schema& each : lab.provider().schema.events[0].fields) {
            if (each.name == name) {
                return each;
            }
        }
        throw std::invalid_argument(std::string(name));
    }
    [[nodiscard]] std::string text_of(std::string_view name) const {
        fmt::memory_buffer out;
        elog::append_field(out, lab.provider().schema, field(name), sample.view().payload);
        return fmt::to_string(out);
    }
    [[nodiscard]] std::string json_of(std::string_view name) const {
        fmt::memory_buffer out;
        fmt::memory_buffer room;
        elog::append_json_field(out, room, lab.provider().schema, field(name),
                                sample.view().payload);
        return fmt::to_string(out);
    }
    [[nodiscard]] bool matches(std::string_view text) const {
        elog::record_filter filter(elog::predicate("--where", text), 0);
        filter.add(lab.provider());
        filter.check_names();
        return filter.matches(sample.view(), record_builder::clock());
    }
    void fill() {
        sample.set_variable("delays", {1, 0, 0, 0, 2, 1, 0, 0});
        sample.set_variable("colors", {1, 0, 9});
        sample.set_variable("reals", {0, 0, 0, 0, 0, 0, 0xe0, 0x3f});
        sample.set_variable("masks", {0x34, 0x12});
        sample.set_variable("waits", {0x40, 0x42, 0x0f, 0, 0, 0, 0, 0});
        sample.set_variable("answers", {1, 0});
        sample.set_text("name", "x");
    }
};

TEST_F(sequence_values, are_lists_in_text_and_json) {
    fill();
    EXPECT_EQ(text_of("delays"), "[1,258]us");
    EXPECT_EQ(text_of("colors"), "[green,red,9]");
    EXPECT_EQ(text_of("reals"), "[0.5]");
    EXPECT_EQ(text_of("masks"), "[0x1234]");
    EXPECT_EQ(text_of("waits"), "[1ms]");
    EXPECT_EQ(text_of("answers"), "[true,false]");
    EXPECT_EQ(text_of("name"), "\"x\"");
    EXPECT_EQ(json_of("delays"), "[1,258]");
    EXPECT_EQ(json_of("colors"), "[\"green\",\"red\",9]");
    EXPECT_EQ(json_of("masks"), "[\"0x1234\"]");
}

TEST_F(sequence_values, without_elements_differ_from_absent_ones) {
    EXPECT_EQ(text_of("delays"), "[]us");
    EXPECT_EQ(json_of("delays"), "[]");
    EXPECT_EQ(text_of("reals"), "-");
    EXPECT_EQ(json_of("reals"), "null");
    sample.set_variable("reals", {});
    EXPECT_EQ(text_of("reals"), "[]");
}

TEST_F(sequence_values, outside_of_the_payload_are_damage) {
    fill();
    const std::vector<std::uint8_t> whole(sample.view().payload.begin(),
                                          sample.view().payload.end());
    const std::size_t at = field("delays").offset;
    for (const auto& [size, distance] : {std::pair(8, 0xff00), {0xffff, 0}, {7, 60}, {1, 60}}) {
        std::vector<std::uint8_t> payload = whole;
        payload[at] = static_cast<std::uint8_t>(distance);
        payload[at + 1] = static_cast<std::uint8_t>(distance >> 8);
        payload[at + 2] = static_cast<std::uint8_t>(size);
        payload[at + 3] = static_cast<std::uint8_t>(size >> 8);
        EXPECT_TRUE(std::holds_alternative<elog::damaged_value>(
            elog::decode_field(field("delays"), payload)))
            << size << " " << distance;
    }
    for (std::size_t size = 0; size < whole.size(); ++size) {
        for (const elog::field_schema& each : lab.provider().schema.events[0].fields) {
            fmt::memory_buffer out;
            elog::append_field(out, lab.provider().schema, each, std::span(whole).first(size));
        }
    }
}

TEST_F(sequence_values, are_compared_by_element) {
    fill();
    EXPECT_TRUE(matches("delays[1] == 258"));
    EXPECT_TRUE(matches("delays[0] < 1ms && waits[0] == 1ms"));
    EXPECT_TRUE(matches("colors[0] == green && colors[1] == red"));
    EXPECT_TRUE(matches("reals[0] == 0.5"));
    EXPECT_TRUE(matches("masks[0] & 0x1000"));
    EXPECT_TRUE(matches("answers[0] && !answers[1]"));
    EXPECT_TRUE(matches("delays[1] > delays[0]"));
    EXPECT_FALSE(matches("delays[0] > 1"));
}

TEST_F(sequence_values, have_no_element_behind_their_end) {
    fill();
    EXPECT_FALSE(matches("delays[2] >= 0"));
    EXPECT_FALSE(matches("!(delays[2] >= 0)"));
    EXPECT_FALSE(matches("delays[65535] == 0"));
    sample = lab.record("sample");
    EXPECT_FALSE(matches("delays[0] >= 0"));
    EXPECT_FALSE(matches("reals[0] >= 0"));
}

TEST_F(sequence_values, of_damaged_records_match_nothing) {
    fill();
    std::vector<std::uint8_t> payload(sample.view().payload.begin(), sample.view().payload.end());
    elog::record_filter filter(elog::predicate("--where", "delays[1] >= 0"), 0);
    filter.add(lab.provider());
    elog::record_view record = sample.view();
    for (std::size_t size = 0; size < payload.size(); ++size) {
        // Exactly as much memory, so that sanitizers find reads behind it.
        const std::vector<std::uint8_t> part(payload.begin(),
                                             payload.begin() + static_cast<std::ptrdiff_t>(size));
        record.payload = part;
        const std::size_t end = lab.provider().schema.events[0].fixed_size + 8U;
        EXPECT_EQ(filter.matches(record, record_builder::clock()), size >= end) << size;
    }
}

TEST_F(sequence_values, as_a_whole_are_not_compared) {
    const auto rejection = [this](std::string_view text) -> std::string {
        try {
            static_cast<void>(matches(text));
        } catch (const elog::user_error& error) {
            return error.what();
        }
        return {};
    };
    EXPECT_NE(rejection("delays == 1").find("say which element"), std::string::npos);
    EXPECT_NE(rejection("name[0] == 1").find("is no array"), std::string::npos);
}

TEST_F(sequence_values, keep_their_schema_in_text) {
    const std::string text = elog::write_schema_text(lab.provider().schema);
    EXPECT_NE(text.find("delays: u32[] unit \"us\"\n"), std::string::npos) << text;
    EXPECT_NE(text.find("reals: f64[]?\n"), std::string::npos) << text;
    EXPECT_EQ(elog::parse_schema_text("again", text).schema.binary, lab.provider().schema.binary);
}

TEST_F(sequence_values, of_texts_and_characters_do_not_exist) {
    for (const std::string type : {"text", "bytes", "char", "ip4"}) {
        const std::string text = "provider p { event e { a: " + type + "[] } }";
        EXPECT_THROW(static_cast<void>(elog::parse_schema_text("x", text)), elog::user_error);
    }
}

}  // namespace
