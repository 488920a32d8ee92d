// SPDX-License-Identifier: MIT
//
// Metadata of events, providers and enumerations, and its effect in schema and records.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"
#include "schema/provider_schema.hpp"

namespace {

using eventlog::test::event_listener;

constexpr eventlog::keyword receive{3, "receive"};
constexpr eventlog::keyword send{63, "send"};

struct segment_lost {
    std::uint64_t sequence;
    std::uint32_t bytes;
};
struct said {
    std::uint32_t number;
    std::string_view text;
    std::string_view other;
};
struct said_in_bytes {
    std::span<const std::byte> data;
    std::string_view text;
};
struct said_or_not {
    std::string_view text;
};
struct plain {
    std::uint32_t number;
};
using metadata_test =
    eventlog::provider<"metadata_test", segment_lost, said, said_or_not, plain, said_in_bytes>;

}  // namespace

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<segment_lost>{
    .level = eventlog::level::warn,
    .keywords = receive | send,
    .name = "loss",
    .description = "A segment was lost",
    .when = "the retransmission timer expires",
    .kind = eventlog::kind::gauge,
    .fields = {{.member = "bytes",
                .name = "size",
                .unit = "B",
                .description = "without headers",
                .format = eventlog::format::hexadecimal}}};

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<said>{
    .oversize = eventlog::oversize::truncate};

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<said_in_bytes>{
    .oversize = eventlog::oversize::truncate};

template <>
inline constexpr eventlog::provider_info eventlog::provider_info_of<metadata_test>{
    .description = "Events of the tests of metadata", .keywords = {send, receive}};

namespace declared {

enum class [[maybe_unused]] color : std::uint8_t{red, green};
consteval auto describe(eventlog::of<color>) {
    return eventlog::enum_info{.values = {{0, "scarlet"}, {1, "emerald"}}};
}
struct painted {
    static constexpr eventlog::event_info info{.level = eventlog::level::warn,
                                               .description = "A wall was painted",
                                               .when = "the paint is dry",
                                               .fields = {{.member = "area", .unit = "m2"}}};
    std::uint32_t area;
    color paint;
};
struct has_data_member {
    std::uint32_t info;
};
constexpr std::uint32_t line_of_entered = __LINE__ + 3;
struct entered {
    // The line on which the object begins.
    static constexpr eventlog::event_info info{.level = eventlog::level::verbose};
};
struct hidden {
    static constexpr eventlog::event_info info{.file = "", .line = 7};
};
struct level_of_water {
    static constexpr eventlog::event_info info{.file = "a/b.hpp", .line = 3};
    std::uint32_t value;
};
using house = eventlog::provider<"house", painted, has_data_member, eventlog::timed<entered>,
                                 hidden, eventlog::gauge<level_of_water>>;
constexpr std::uint32_t line_of_house = __LINE__ + 2;
consteval auto describe(eventlog::of<house>) {
    return eventlog::provider_info{.description = "A house"};
}

}  // namespace declared

namespace {

elog::provider_schema schema() {
    const auto& bytes = metadata_test::schema();
    return elog::provider_schema::parse({bytes.data(), bytes.size()});
}

TEST(metadata, of_an_event_are_in_the_schema) {
    const elog::event_schema event = schema().events.at(0);
    EXPECT_EQ(event.name, "loss");
    EXPECT_EQ(event.severity, eventlog::level::warn);
    EXPECT_EQ(event.keywords, 0x8000000000000008U);
    EXPECT_EQ(event.description, "A segment was lost");
    EXPECT_EQ(event.when, "the retransmission timer expires");
    EXPECT_EQ(event.kind, eventlog::kind::gauge);
    EXPECT_FALSE(event.session_bound);
    EXPECT_FALSE(event.truncates);
}

TEST(metadata, of_a_field_are_in_the_schema) {
    const elog::field_schema field = schema().events.at(0).fields.at(1);
    EXPECT_EQ(field.name, "size");
    EXPECT_EQ(field.unit, "B");
    EXPECT_EQ(field.description, "without headers");
    EXPECT_EQ(field.format, eventlog::format::hexadecimal);
}

TEST(metadata, of_a_provider_are_in_the_schema) {
    const elog::provider_schema parsed = schema();
    EXPECT_EQ(parsed.description, "Events of the tests of metadata");
    const std::vector<std::pair<unsigned, std::string>> keywords{{3, "receive"}, {63, "send"}};
    EXPECT_EQ(parsed.keywords, keywords);
}

TEST(metadata, of_an_event_can_be_a_static_member) {
    const auto& bytes = declared::house::schema();
    const elog::provider_schema parsed = elog::provider_schema::parse({bytes.data(), bytes.size()});
    const elog::event_schema& painted = parsed.events.at(0);
    EXPECT_EQ(painted.severity, eventlog::level::warn);
    EXPECT_EQ(painted.description, "A wall was painted");
    EXPECT_EQ(painted.when, "the paint is dry");
    ASSERT_EQ(painted.fields.size(), 2U);
    EXPECT_EQ(painted.fields[0].unit, "m2");
}

TEST(metadata, names_the_line_that_declares_an_event) {
    const auto& bytes = declared::house::schema();
    const elog::provider_schema parsed = elog::provider_schema::parse({bytes.data(), bytes.size()});
    EXPECT_EQ(parsed.source.file, "metadata_test.cpp");
    EXPECT_EQ(parsed.source.line, declared::line_of_house);
    EXPECT_EQ(parsed.events.at(0).source.file, "metadata_test.cpp");
    EXPECT_LT(parsed.events.at(0).source.line, declared::line_of_entered);
    EXPECT_EQ(parsed.events.at(1).source.line, 0U) << "it has no metadata";
    EXPECT_EQ(parsed.events.at(2).name, "entered");
    EXPECT_EQ(parsed.events.at(2).source.file, "metadata_test.cpp");
    EXPECT_EQ(parsed.events.at(2).source.line, declared::line_of_entered);
    EXPECT_EQ(parsed.events.at(3).source.line, 0U) << "it hides its file";
    EXPECT_EQ(parsed.events.at(4).source.file, "b.hpp");
    EXPECT_EQ(parsed.events.at(4).source.line, 3U);
    // The specialization of another type.
    EXPECT_EQ(schema().events.at(0).source.file, "metadata_test.cpp");
    EXPECT_LT(schema().events[0].source.line, declared::line_of_entered);
    EXPECT_GT(schema().events[0].source.line, 0U);
}

TEST(metadata, does_not_take_a_data_member_named_info) {
    const auto& bytes = declared::house::schema();
    const elog::provider_schema parsed = elog::provider_schema::parse({bytes.data(), bytes.size()});
    ASSERT_EQ(parsed.events.at(1).fields.size(), 1U);
    EXPECT_EQ(parsed.events[1].fields[0].name, "info");
}

TEST(metadata, of_providers_and_enumerations_comes_from_describe) {
    const auto& bytes = declared::house::schema();
    const elog::provider_schema parsed = elog::provider_schema::parse({bytes.data(), bytes.size()});
    EXPECT_EQ(parsed.description, "A house");
    ASSERT_EQ(parsed.enumerations.size(), 1U);
    ASSERT_EQ(parsed.enumerations[0].values.size(), 2U);
    EXPECT_EQ(parsed.enumerations[0].values[1].second, "emerald");
}

TEST(metadata, is_optional) {
    const elog::event_schema event = schema().events.at(3);
    EXPECT_EQ(event.name, "plain");
    EXPECT_EQ(event.severity, eventlog::level::info);
    EXPECT_EQ(event.keywords, 0U);
    EXPECT_EQ(event.kind, eventlog::kind::instant);
}

/// Emits two texts of these lengths, and returns the received lengths.
std::pair<std::size_t, std::size_t> received_lengths(std::size_t first, std::size_t second) {
    event_listener listener("metadata_test:said");
    const std::string one(first, 'a');
    const std::string two(second, 'b');
    metadata_test::emit(said{1, one, two});
    listener.finish();
    const auto& record = listener.records().at(0);
    EXPECT_EQ(record.header.flags, EVENTLOG_RECORD_TRUNCATED);
    EXPECT_EQ(listener.truncated_by_providers(), 1U);
    const auto text = std::get<std::string_view>(listener.field(record, "text"));
    const auto other = std::get<std::string_view>(listener.field(record, "other"));
    EXPECT_EQ(text, one.substr(0, text.size()));
    EXPECT_EQ(other, two.substr(0, other.size()));
    // A full record: fixed part 12, two texts with their NUL.
    EXPECT_EQ(text.size() + other.size(),
              EVENTLOG_RECORD_SIZE_MAX - EVENTLOG_EXTENDED_HEADER_SIZE - 12 - 2);
    return {text.size(), other.size()};
}

TEST(oversize_cut, truncates_longest_text_and_sets_flag) {
    EXPECT_EQ(received_lengths(70'000, 10).second, 10U);
    EXPECT_EQ(received_lengths(10, 100'000).first, 10U);
}

TEST(oversize_cut, truncates_two_long_texts_equally) {
    const auto [first, second] = received_lengths(60'000, 90'000);
    EXPECT_LE(first > second ? first - second : second - first, 1U);
}

TEST(oversize_cut, truncates_bytes_at_any_position_and_sets_flag) {
    event_listener listener("metadata_test:said_in_bytes");
    std::vector<std::byte> data(70'001);
    for (std::size_t i = 0; i < data.size(); ++i) {
        data[i] = static_cast<std::byte>(i);
    }
    metadata_test::emit(said_in_bytes{data, "beside"});
    listener.finish();
    const auto& record = listener.records().at(0);
    EXPECT_EQ(record.header.flags, EVENTLOG_RECORD_TRUNCATED);
    EXPECT_EQ(listener.truncated_by_providers(), 1U);
    EXPECT_EQ(std::get<std::string_view>(listener.field(record, "text")), "beside");
    const auto kept = std::get<elog::byte_string>(listener.field(record, "data"));
    // A full record: fixed part 8, a text with its NUL.
    EXPECT_EQ(kept.size(), EVENTLOG_RECORD_SIZE_MAX - EVENTLOG_EXTENDED_HEADER_SIZE - 8 - 7);
    EXPECT_TRUE(
        std::equal(kept.begin(), kept.end(), reinterpret_cast<const unsigned char*>(data.data())));
}

TEST(oversize_cut, keeps_payload_that_fits) {
    event_listener listener("metadata_test:said");
    const std::string text(65'000, 'x');
    metadata_test::emit(said{1, text, ""});
    listener.finish();
    EXPECT_EQ(listener.records().at(0).header.flags, 0U);
    EXPECT_EQ(listener.truncated_by_providers(), 0U);
}

TEST(oversize_cut, never_splits_a_character) {
    event_listener listener("metadata_test:said");
    std::string text;
    while (text.size() < 70'000) {
        text += "\xe2\x82\xac";  // the euro sign
    }
    for (const char* shift : {"", "x", "xx"}) {
        metadata_test::emit(said{1, text, shift});
    }
    listener.finish();
    ASSERT_EQ(listener.records().size(), 3U);
    for (const auto& record : listener.records()) {
        EXPECT_EQ(std::get<std::string_view>(listener.field(record, "text")).size() % 3, 0U);
    }
}

TEST(oversize_cut, truncates_invalid_utf_8_by_bytes) {
    event_listener listener("metadata_test:said");
    const std::string text(70'000, '\x80');
    metadata_test::emit(said{1, text, ""});
    listener.finish();
    const auto& record = listener.records().at(0);
    EXPECT_EQ(record.header.flags, EVENTLOG_RECORD_TRUNCATED);
    EXPECT_EQ(std::get<std::string_view>(listener.field(record, "text")).size(),
              EVENTLOG_RECORD_SIZE_MAX - EVENTLOG_EXTENDED_HEADER_SIZE - 12 - 2);
}

TEST(oversize_refuse, is_the_default) {
    event_listener listener("metadata_test:said_or_not");
    metadata_test::emit(said_or_not{std::string(70'000, 'x')});
    listener.finish();
    EXPECT_TRUE(listener.records().empty());
    EXPECT_EQ(listener.lost_by_providers(), 1U);
}

}  // namespace
