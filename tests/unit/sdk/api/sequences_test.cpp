// SPDX-License-Identifier: MIT
//
// Sequences, which are fields with any number of elements: from structs, definitions at run time
// and lists of values to the text that a consumer shows.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/collector.hpp>
#include <eventlog/dynamic_definition.hpp>
#include <eventlog/dynamic_provider.hpp>
#include <eventlog/eventlog.hpp>

#include "listener.hpp"
#include "provider/definition.hpp"
#include "schema/decode.hpp"
#include "shown_fields.hpp"

namespace {

using eventlog::test::event_listener;
using eventlog::test::received_record;
using eventlog::test::shown_fields;

enum class color : std::uint8_t { red, green };

struct sample {
    static constexpr eventlog::event_info info{
        .fields = {{.member = "delays", .unit = "us"},
                   {.member = "masks", .format = eventlog::format::hexadecimal}},
        .line = 0};
    std::uint64_t number;
    std::span<const std::uint32_t> delays;
    std::string_view name;
    std::vector<double> weights;
    std::span<const color> colors;
    std::vector<std::uint8_t> raw;
    std::optional<std::vector<std::int16_t>> maybe;
    std::span<std::uint64_t> masks;
    std::span<const bool> answers;
};
struct bare {
    std::vector<std::uint16_t> numbers;
};
struct cut {
    static constexpr eventlog::event_info info{.oversize = eventlog::oversize::truncate, .line = 0};
    std::span<const std::uint64_t> numbers;
    std::string_view text;
};
using lab = eventlog::provider<"sequences_lab", sample, bare, cut>;

auto define_same() {
    return eventlog::definition("sequences_lab")
        .event("sample")
        .field<std::uint64_t>("number")
        .field<std::span<const std::uint32_t>>("delays", {.unit = "us"})
        .field<std::string_view>("name")
        .field<std::vector<double>>("weights")
        .field<std::span<const color>>("colors")
        .field<std::vector<std::uint8_t>>("raw")
        .field<std::optional<std::vector<std::int16_t>>>("maybe")
        .field<std::span<std::uint64_t>>("masks", {.format = eventlog::format::hexadecimal})
        .field<std::span<const bool>>("answers")
        .event("bare")
        .field<std::vector<std::uint16_t>>("numbers")
        .event("cut", {.oversize = eventlog::oversize::truncate})
        .field<std::span<const std::uint64_t>>("numbers")
        .field<std::string_view>("text");
}

/// The elements of a field of unsigned numbers.
std::vector<std::uint64_t> numbers_in(const event_listener& listener, const received_record& record,
                                      std::string_view name) {
    const elog::provider_schema& schema = listener.providers().at(record.header.provider).schema;
    std::vector<std::uint64_t> numbers;
    for (const elog::field_schema& field : schema.events.at(record.header.event).fields) {
        if (field.name == name) {
            const auto count =
                std::get<elog::array_value>(elog::decode_field(field, record.payload)).count;
            for (std::size_t i = 0; i < count; ++i) {
                numbers.push_back(
                    std::get<std::uint64_t>(elog::decode_element(field, i, record.payload)));
            }
        }
    }
    return numbers;
}

TEST(sequences, of_structs_are_shown_as_lists) {
    event_listener listener("sequences_lab:*");
    constexpr std::array<std::uint32_t, 3> delays{1, 2, 4'000'000'000};
    constexpr std::array colors{color::green, color::red, static_cast<color>(7)};
    std::array<std::uint64_t, 2> masks{0x10, ~std::uint64_t{0}};
    constexpr std::array<bool, 2> answers{true, false};
    lab::emit(sample{7, delays, "x", {0.5, -2}, colors, {1, 255}, {{-1, 300}}, masks, answers});
    EXPECT_EQ(shown_fields(listener),
              "number=7 delays=[1,2,4000000000]us name=\"x\" weights=[0.5,-2] "
              "colors=[green,red,7] raw=<01ff> maybe=[-1,300] "
              "masks=[0x10,0xffffffffffffffff] answers=[true,false]");
}

TEST(sequences, may_be_empty_or_absent) {
    event_listener listener("sequences_lab:*");
    lab::emit(sample{});
    EXPECT_EQ(shown_fields(listener),
              "number=0 delays=[]us name=\"\" weights=[] colors=[] raw=<> maybe=- masks=[] "
              "answers=[]");
    listener.clear_records();
    sample made{};
    made.maybe.emplace();
    lab::emit(made);
    EXPECT_NE(shown_fields(listener).find("maybe=[] "), std::string::npos);
}

TEST(sequences, are_carried_at_every_length) {
    event_listener listener("sequences_lab:bare", {.buffer_size = 1U << 20U});
    std::vector<std::uint64_t> expected;
    for (std::uint16_t length = 0; length < 600; length = static_cast<std::uint16_t>(length + 7)) {
        listener.clear_records();
        std::vector<std::uint16_t> numbers;
        expected.clear();
        for (std::uint16_t i = 0; i < length; ++i) {
            numbers.push_back(static_cast<std::uint16_t>(i * 109));
            expected.push_back(numbers.back());
        }
        lab::emit(bare{numbers});
        listener.poll();
        ASSERT_EQ(listener.records().size(), 1U);
        EXPECT_EQ(numbers_in(listener, listener.records()[0], "numbers"), expected) << length;
    }
}

TEST(sequences, are_cut_between_elements) {
    event_listener listener("sequences_lab:cut", {.buffer_size = 1U << 20U});
    std::vector<std::uint64_t> numbers(9'000);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = i << 32U;
    }
    lab::emit(cut{numbers, "beside"});
    listener.finish();
    ASSERT_EQ(listener.records().size(), 1U);
    const received_record& record = listener.records()[0];
    EXPECT_EQ(record.header.flags, EVENTLOG_RECORD_TRUNCATED);
    // A full record: fixed part 8, a text with its NUL; then whole elements.
    numbers.resize((EVENTLOG_RECORD_SIZE_MAX - EVENTLOG_EXTENDED_HEADER_SIZE - 8 - 7) / 8);
    EXPECT_EQ(numbers_in(listener, record, "numbers"), numbers);
    EXPECT_EQ(std::get<std::string_view>(listener.field(record, "text")), "beside");
}

TEST(sequences, that_are_too_long_are_lost_and_counted) {
    event_listener listener("sequences_lab:bare", {.buffer_size = 1U << 20U});
    lab::emit(bare{std::vector<std::uint16_t>(33'000)});
    listener.finish();
    EXPECT_TRUE(listener.records().empty());
    EXPECT_EQ(listener.lost_by_providers(), 1U);
}

TEST(sequences, of_a_definition_have_the_schema_of_structs) {
    eventlog::core::definition_error error;
    const eventlog::core::built_definition* built = nullptr;
    const auto definition = define_same();
    ASSERT_EQ(eventlog::core::check_definition(definition, error), EVENTLOG_ERROR_NONE);
    ASSERT_EQ(eventlog::core::build_definition(definition, built, error), EVENTLOG_ERROR_NONE);
    const auto& expected = lab::schema();
    EXPECT_EQ(std::vector<std::uint8_t>(built->schema.begin(), built->schema.end()),
              std::vector<std::uint8_t>(expected.begin(), expected.end()));
    eventlog::core::malloc_deleter{}(const_cast<eventlog::core::built_definition*>(built));
}

TEST(sequences, of_dynamic_events_are_received) {
    const auto definition =
        eventlog::definition("sequences_dynamic")
            .event("measured")
            .field<std::vector<float>>("values")
            .field<std::optional<std::span<const std::int64_t>>>("times", {.unit = "ns"})
            .field<std::span<const color>>("colors");
    const eventlog::dynamic_provider provider(definition);
    ASSERT_EQ(provider.error(), EVENTLOG_ERROR_NONE) << provider.error_text();
    event_listener listener("sequences_dynamic:*");
    const std::vector<float> values{0.5F, 2};
    constexpr std::array colors{color::green};
    EXPECT_EQ(provider.emit(0, values, std::nullopt, std::span<const color>(colors)),
              EVENTLOG_ERROR_NONE);
    EXPECT_EQ(shown_fields(listener), "values=[0.5,2] times=- colors=[green]");
    listener.clear_records();
    const std::vector<std::int64_t> times(200, -5);
    EXPECT_EQ(provider.emit(0, std::vector<float>{}, times, std::span<const color>()),
              EVENTLOG_ERROR_NONE);
    const std::string text = shown_fields(listener);
    EXPECT_TRUE(text.starts_with("values=[] times=[-5,-5,")) << text;
    EXPECT_TRUE(text.ends_with(",-5]ns colors=[]")) << text;
}

TEST(sequences, in_c_take_arrays_of_their_type) {
    const eventlog_field_definition field{
        .name = "row", .type = EVENTLOG_TYPE_UNSIGNED_32, .is_sequence = true};
    const eventlog_event_definition event{.name = "rows", .fields = &field, .field_count = 1};
    const eventlog_definition definition{EVENTLOG_DEFINITION_SIZES, .name = "sequences_in_c",
                                         .events = &event, .event_count = 1};
    std::array<char, EVENTLOG_TEXT_SIZE> text{};
    eventlog_provider* provider = nullptr;
    ASSERT_EQ(eventlog_provider_create(&definition, &provider, text.data(), text.size()),
              EVENTLOG_ERROR_NONE)
        << text.data();
    const std::array<std::uint32_t, 2> row{3, 4};
    const auto check = [&](const eventlog_value& value) {
        const eventlog_error found =
            eventlog_check_values(provider, 0, &value, 1, text.data(), text.size());
        EXPECT_EQ(eventlog_emit(provider, 0, &value, 1), found);
        return found;
    };
    event_listener listener("sequences_in_c:*");
    EXPECT_EQ(check(eventlog_array(EVENTLOG_TYPE_UNSIGNED_32, row.data(), 2)), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(shown_fields(listener), "row=[3,4]");
    EXPECT_EQ(check(eventlog_array(EVENTLOG_TYPE_UNSIGNED_32, nullptr, 0)), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(check(eventlog_array(EVENTLOG_TYPE_UNSIGNED_32, nullptr, 1)),
              EVENTLOG_ERROR_ARGUMENT);
    EXPECT_EQ(check(eventlog_array(EVENTLOG_TYPE_UNSIGNED_32, row.data(), SIZE_MAX / 2)),
              EVENTLOG_ERROR_VALUE_RANGE);
    EXPECT_EQ(check(eventlog_array(EVENTLOG_TYPE_SIGNED_32, row.data(), 2)),
              EVENTLOG_ERROR_VALUE_TYPE);
    EXPECT_EQ(check(eventlog_unsigned(1)), EVENTLOG_ERROR_VALUE_TYPE);
    EXPECT_NE(std::string_view(text.data())
                  .find("It takes an array of any number of unsigned_32, not an unsigned number."),
              std::string_view::npos)
        << text.data();
    eventlog_provider_destroy(provider);
}

TEST(sequences, in_c_are_of_numbers_and_have_no_count) {
    for (const auto& field :
         {eventlog_field_definition{.name = "bad", .type = EVENTLOG_TYPE_TEXT, .is_sequence = true},
          {.name = "bad", .type = EVENTLOG_TYPE_CHARACTER, .is_sequence = true},
          {.name = "bad", .type = EVENTLOG_TYPE_SIGNED_8, .count = 3, .is_sequence = true}}) {
        const eventlog_event_definition event{.name = "rows", .fields = &field, .field_count = 1};
        const eventlog_definition definition{EVENTLOG_DEFINITION_SIZES, .name = "sequences_bad",
                                             .events = &event, .event_count = 1};
        std::array<char, EVENTLOG_TEXT_SIZE> text{};
        eventlog_provider* provider = nullptr;
        EXPECT_EQ(eventlog_provider_create(&definition, &provider, text.data(), text.size()),
                  EVENTLOG_ERROR_MISMATCH);
        EXPECT_NE(std::string_view(text.data()).find("A sequence has numbers or bools"),
                  std::string_view::npos)
            << text.data();
    }
}

TEST(sequences, of_collected_events_are_arrays) {
    const char* patterns[] = {"sequences_lab:bare"};
    eventlog_collector* collector = nullptr;
    ASSERT_EQ(eventlog_collector_create(patterns, 1, nullptr, &collector, nullptr, 0),
              EVENTLOG_ERROR_NONE);
    lab::emit(bare{{5, 6, 7}});
    eventlog_collected event{};
    event.size = sizeof event;
    std::array<std::uint8_t, 64> payload{};
    ASSERT_EQ(eventlog_collector_try_get(collector, &event, payload.data(), payload.size()),
              EVENTLOG_COLLECTOR_EVENT);
    eventlog_value value{};
    ASSERT_TRUE(eventlog_collected_value(&event, payload.data(), "numbers", &value));
    EXPECT_EQ(value.type, std::uint32_t{EVENTLOG_VALUE_ARRAY});
    EXPECT_EQ(value.element, std::uint32_t{EVENTLOG_TYPE_UNSIGNED_16});
    ASSERT_EQ(value.count, 3U);
    std::array<std::uint16_t, 3> numbers{};
    std::memcpy(numbers.data(), value.as.data, sizeof numbers);
    EXPECT_EQ(numbers, (std::array<std::uint16_t, 3>{5, 6, 7}));
    // One and a half elements.
    payload[2] = 3;
    EXPECT_FALSE(eventlog_collected_value(&event, payload.data(), "numbers", &value));
    eventlog_collector_destroy(collector);
}

TEST(sequences, of_collected_events_are_vectors) {
    eventlog::collector events({"sequences_lab:sample"});
    constexpr std::array colors{color::green, color::red};
    sample made{};
    made.weights = {0.5, 2};
    made.colors = colors;
    made.raw = {1, 255};
    lab::emit(made);
    const auto event = events.try_get();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->get<std::vector<double>>("weights"), (std::vector{0.5, 2.0}));
    EXPECT_EQ(event->get<std::vector<color>>("colors"), (std::vector{color::green, color::red}));
    EXPECT_EQ(event->get<std::vector<std::uint8_t>>("raw"), (std::vector<std::uint8_t>{1, 255}));
    EXPECT_EQ(event->get<std::vector<std::uint32_t>>("delays"), std::vector<std::uint32_t>{});
    EXPECT_EQ(event->get<std::vector<float>>("weights"), std::nullopt);
    EXPECT_EQ(event->get<std::vector<std::int16_t>>("maybe"), std::nullopt);
}

}  // namespace
