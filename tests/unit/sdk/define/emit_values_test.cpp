// SPDX-License-Identifier: MIT
//
// Lists of values: valid ones are received as emitted, invalid ones are rejected.
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.h>

#include "every_number.hpp"
#include "listener.hpp"

namespace {

using eventlog::test::event_listener;
using eventlog::test::expect_every_number;
using eventlog::test::number_fields;
using eventlog::test::received_record;
using namespace std::string_view_literals;

enum event : std::uint32_t { numbers, maybes, arrays, texts, cut, nothing, in_session, wide };

const eventlog_field_definition maybe_fields[] = {
    {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_32, .optional = true},
    {.name = "text", .type = EVENTLOG_TYPE_TEXT, .optional = true},
    {.name = "row", .type = EVENTLOG_TYPE_UNSIGNED_64, .count = 100, .optional = true}};
const eventlog_field_definition array_fields[] = {
    {.name = "mac",
     .type = EVENTLOG_TYPE_UNSIGNED_8,
     .count = 6,
     .format = EVENTLOG_FORMAT_MAC_ADDRESS},
    {.name = "reals", .type = EVENTLOG_TYPE_FLOAT_64, .count = 200},
    {.name = "small", .type = EVENTLOG_TYPE_SIGNED_16, .count = 3},
    {.name = "after", .type = EVENTLOG_TYPE_UNSIGNED_64},
    {.name = "yeses", .type = EVENTLOG_TYPE_BOOLEAN, .count = 2}};
const eventlog_field_definition text_fields[] = {
    {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_32},
    {.name = "first", .type = EVENTLOG_TYPE_TEXT},
    {.name = "bytes", .type = EVENTLOG_TYPE_BYTES},
    {.name = "second", .type = EVENTLOG_TYPE_TEXT}};
const eventlog_field_definition session_fields[] = {
    {.name = "small", .type = EVENTLOG_TYPE_UNSIGNED_8}};

/// As many fields as an event may have, of all kinds.
const std::vector<eventlog_field_definition>& wide_fields() {
    static std::vector<std::string> names;
    static std::vector<eventlog_field_definition> fields;
    if (fields.empty()) {
        names.reserve(100);
        constexpr std::uint32_t types[] = {EVENTLOG_TYPE_TEXT, EVENTLOG_TYPE_UNSIGNED_64,
                                           EVENTLOG_TYPE_UNSIGNED_8, EVENTLOG_TYPE_BYTES};
        for (std::uint32_t i = 0; i < 100; ++i) {
            names.push_back("f" + std::to_string(i));
            fields.push_back({.name = names.back().c_str(),
                              .type = types[i % 4],
                              .count = i % 4 == 2 ? 9U : 1U,
                              .optional = true});
        }
    }
    return fields;
}

/// One provider for all tests.
eventlog_provider* provider() {
    static eventlog_provider* const defined = [] {
        static const eventlog_event_definition events[] = {
            {.name = "numbers", .fields = number_fields, .field_count = 12},
            {.name = "maybes", .fields = maybe_fields, .field_count = 3},
            {.name = "arrays", .fields = array_fields, .field_count = 5},
            {.name = "texts", .fields = text_fields, .field_count = 4},
            {.name = "cut", .truncates = true, .fields = text_fields, .field_count = 4},
            {.name = "nothing"},
            {.name = "in_session",
             .session_bound = true,
             .fields = session_fields,
             .field_count = 1},
            {.name = "wide", .fields = wide_fields().data(), .field_count = 100}};
        const eventlog_definition definition{EVENTLOG_DEFINITION_SIZES, .name = "values_test",
                                             .events = events, .event_count = 8};
        std::array<char, EVENTLOG_TEXT_SIZE> text{};
        eventlog_provider* made = nullptr;
        EXPECT_EQ(eventlog_provider_create(&definition, &made, text.data(), text.size()),
                  EVENTLOG_ERROR_NONE)
            << text.data();
        return made;
    }();
    return defined;
}

eventlog_error emit(event id, const std::vector<eventlog_value>& values) {
    return eventlog_emit(provider(), id, values.data(), values.size());
}

received_record emit_and_receive(event_listener& listener, event id,
                                 const std::vector<eventlog_value>& values) {
    listener.clear_records();
    EXPECT_EQ(emit(id, values), EVENTLOG_ERROR_NONE);
    listener.poll();
    EXPECT_EQ(listener.records().size(), 1U);
    return listener.records().at(0);
}

std::string text_of(const event_listener& listener, const received_record& record,
                    std::string_view field) {
    return std::string(std::get<std::string_view>(listener.field(record, field)));
}

std::string_view as_text(std::span<const std::uint8_t> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<eventlog_value> valid_numbers() {
    return {eventlog_boolean(true),
            eventlog_signed('x'),
            eventlog_signed(-8),
            eventlog_signed(-1600),
            eventlog_signed(-320000),
            eventlog_signed(std::numeric_limits<std::int64_t>::min()),
            eventlog_unsigned(200),
            eventlog_unsigned(60000),
            eventlog_unsigned(4000000000U),
            eventlog_unsigned(std::numeric_limits<std::uint64_t>::max()),
            eventlog_real(1.5),
            eventlog_real(-2.25)};
}

TEST(emit_values, carries_every_number) {
    provider();
    event_listener listener("values_test:*");
    const received_record record = emit_and_receive(listener, numbers, valid_numbers());
    EXPECT_EQ(listener.event_name(record), "numbers");
    expect_every_number(listener, record);
}

TEST(emit_values, carries_texts_and_bytes_around_size_limits) {
    provider();
    event_listener listener("values_test:*");
    for (const std::size_t near : {8U, 16U, 480U, 512U, 1024U, 4096U, 65400U}) {
        for (std::size_t length = near - 8; length < near + 9; ++length) {
            const std::string text(length, static_cast<char>('a' + length % 26));
            const received_record record =
                emit_and_receive(listener, texts,
                                 {eventlog_unsigned(7), eventlog_text_of(text.data(), text.size()),
                                  eventlog_bytes("\0\1\2", 3), eventlog_text("last")});
            EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "number")), 7U);
            EXPECT_EQ(text_of(listener, record, "first"), text);
            EXPECT_EQ(
                as_text(std::get<std::span<const std::uint8_t>>(listener.field(record, "bytes"))),
                "\0\1\2"sv);
            EXPECT_EQ(text_of(listener, record, "second"), "last");
        }
    }
}

TEST(emit_values, distinguishes_null_and_empty_texts_and_keeps_nul_characters) {
    provider();
    event_listener listener("values_test:*");
    const received_record record =
        emit_and_receive(listener, texts,
                         {eventlog_unsigned(7), eventlog_text(nullptr), eventlog_bytes(nullptr, 0),
                          eventlog_text_of(nullptr, 0)});
    EXPECT_TRUE(std::holds_alternative<elog::null_text>(listener.field(record, "first")));
    EXPECT_EQ(text_of(listener, record, "second"), "");
    const received_record other =
        emit_and_receive(listener, texts,
                         {eventlog_unsigned(7), eventlog_text_of("a\0b", 3), eventlog_bytes("", 0),
                          eventlog_text("")});
    EXPECT_EQ(text_of(listener, other, "first"), "a\0b"sv);
    EXPECT_EQ(text_of(listener, other, "second"), "");
}

TEST(emit_values, are_padded_with_zeros) {
    provider();
    event_listener listener("values_test:*");
    const received_record record =
        emit_and_receive(listener, in_session, {eventlog_unsigned(77), eventlog_unsigned(0xff)});
    EXPECT_EQ(record.payload.size(), 9U);
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "session")), 77U);
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "small")), 0xffU);
}

TEST(emit_values, accepts_no_values) {
    provider();
    event_listener listener("values_test:*");
    EXPECT_EQ(emit_and_receive(listener, nothing, {}).payload.size(), 0U);
}

/// The expected payload: fixed part with fields by width, presence bits, texts.
TEST(emit_values, lays_out_arrays_like_structs) {
    provider();
    event_listener listener("values_test:*");
    const std::uint8_t mac[6] = {1, 2, 3, 4, 5, 6};
    std::array<double, 200> reals{};
    for (std::size_t i = 0; i < reals.size(); ++i) {
        reals[i] = static_cast<double>(i) / 4;
    }
    const std::int16_t small[3] = {-1, 2, -3};
    const bool yeses[2] = {true, false};
    const received_record record =
        emit_and_receive(listener, arrays,
                         {eventlog_array(EVENTLOG_TYPE_UNSIGNED_8, mac, 6),
                          eventlog_array(EVENTLOG_TYPE_FLOAT_64, reals.data(), reals.size()),
                          eventlog_array(EVENTLOG_TYPE_SIGNED_16, small, 3), eventlog_unsigned(99),
                          eventlog_array(EVENTLOG_TYPE_BOOLEAN, yeses, 2)});
    ASSERT_EQ(record.payload.size(), 1600U + 8 + 6 + 6 + 2);
    std::array<double, 200> received_reals{};
    std::memcpy(received_reals.data(), record.payload.data(), sizeof received_reals);
    EXPECT_EQ(received_reals, reals);
    EXPECT_EQ(record.payload[1600], 99U);
    EXPECT_EQ(std::memcmp(record.payload.data() + 1608, small, 6), 0);
    EXPECT_EQ(std::memcmp(record.payload.data() + 1614, mac, 6), 0);
    EXPECT_EQ(record.payload[1620], 1U);
    EXPECT_EQ(record.payload[1621], 0U);
}

TEST(emit_values, absent_values_leave_zeros_and_no_presence_bit) {
    provider();
    event_listener listener("values_test:*");
    std::array<std::uint64_t, 100> row{};
    row.fill(~0ULL);
    const received_record all =
        emit_and_receive(listener, maybes,
                         {eventlog_unsigned(5), eventlog_text("here"),
                          eventlog_array(EVENTLOG_TYPE_UNSIGNED_64, row.data(), 100)});
    ASSERT_EQ(all.payload.size(), 808U + 3 + 5);
    EXPECT_EQ(all.payload[0], 0xffU);
    EXPECT_EQ(all.payload[808] + all.payload[809] + all.payload[810], 3);
    EXPECT_EQ(text_of(listener, all, "text"), "here");
    const received_record none = emit_and_receive(
        listener, maybes, {eventlog_absent(), eventlog_absent(), eventlog_absent()});
    EXPECT_EQ(none.payload, std::vector<std::uint8_t>(811, 0));
}

TEST(emit_values, delivers_event_with_a_hundred_fields) {
    provider();
    event_listener listener("values_test:*");
    const std::array<std::uint8_t, 9> row{1, 2, 3, 4, 5, 6, 7, 8, 9};
    for (const std::size_t length : {0U, 3U, 600U}) {
        const std::string text(length, 't');
        std::vector<eventlog_value> values;
        for (std::size_t i = 0; i < 100; ++i) {
            switch (i % 4) {
                case 0:
                    values.push_back(eventlog_text_of(text.data(), text.size()));
                    break;
                case 1:
                    values.push_back(i == 5 ? eventlog_absent() : eventlog_unsigned(i));
                    break;
                case 2:
                    values.push_back(
                        i == 6 ? eventlog_absent()
                               : eventlog_array(EVENTLOG_TYPE_UNSIGNED_8, row.data(), row.size()));
                    break;
                default:
                    values.push_back(eventlog_bytes(text.data(), text.size()));
            }
        }
        const received_record record = emit_and_receive(listener, wide, values);
        for (std::size_t i = 0; i < 100; ++i) {
            const std::string name = "f" + std::to_string(i);
            if (i % 4 == 0) {
                EXPECT_EQ(text_of(listener, record, name), text);
            } else if (i % 4 == 1 && i != 5) {
                EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, name)), i);
            } else if (i % 4 == 3) {
                EXPECT_EQ(
                    as_text(std::get<std::span<const std::uint8_t>>(listener.field(record, name))),
                    text);
            }
        }
        // The arrays follow 25 numbers and the words of 50 texts and byte strings.
        const std::size_t at = 25 * 8 + 50 * 4;
        EXPECT_EQ(std::memcmp(record.payload.data() + at, row.data(), 9), 0);
        EXPECT_EQ(record.payload[at + 9], 0U);
        EXPECT_EQ(record.payload[at + 18], 1U);
    }
}

TEST(emit_values, rejects_and_counts_oversized_payload) {
    provider();
    event_listener listener("values_test:*");
    // Fixed part 16, two texts with their NUL.
    const std::size_t largest = EVENTLOG_RECORD_SIZE_MAX - EVENTLOG_EXTENDED_HEADER_SIZE - 16 - 2;
    const std::string text(largest + 1, 'x');
    const auto emit_length = [&](std::size_t length) {
        EXPECT_EQ(emit(texts, {eventlog_unsigned(1), eventlog_text_of(text.data(), length),
                               eventlog_bytes(nullptr, 0), eventlog_text("")}),
                  EVENTLOG_ERROR_NONE);
    };
    emit_length(largest);
    emit_length(largest + 1);
    listener.finish();
    ASSERT_EQ(listener.records().size(), 1U);
    EXPECT_EQ(listener.records()[0].payload.size(),
              EVENTLOG_RECORD_SIZE_MAX - EVENTLOG_EXTENDED_HEADER_SIZE);
    EXPECT_EQ(listener.lost_by_providers(), 1U);
}

TEST(emit_values, truncates_oversized_text_between_characters) {
    provider();
    event_listener listener("values_test:*");
    std::string text;
    while (text.size() < 70'000) {
        text += "\xe2\x82\xac";  // the euro sign
    }
    EXPECT_EQ(emit(cut, {eventlog_unsigned(1), eventlog_text(text.c_str()),
                         eventlog_bytes("abc", 3), eventlog_text("short")}),
              EVENTLOG_ERROR_NONE);
    listener.finish();
    ASSERT_EQ(listener.records().size(), 1U);
    const received_record& record = listener.records()[0];
    EXPECT_EQ(record.header.flags, EVENTLOG_RECORD_TRUNCATED);
    EXPECT_EQ(listener.truncated_by_providers(), 1U);
    EXPECT_EQ(listener.lost_by_providers(), 0U);
    const std::string received_text = text_of(listener, record, "first");
    EXPECT_EQ(received_text.size() % 3, 0U);
    EXPECT_GT(received_text.size(), 65'480U);
    EXPECT_EQ(received_text, text.substr(0, received_text.size()));
    EXPECT_EQ(text_of(listener, record, "second"), "short");
}

struct wrong_values {
    const char* name;
    event id;
    std::size_t index;  // of the valid value to replace
    eventlog_value value;
    eventlog_error code;
    const char* sentence;
};

const std::array<std::uint8_t, 8> some_bytes{};

const wrong_values wrong_cases[] = {
    {"boolean_for_a_number", numbers, 6, eventlog_boolean(true), EVENTLOG_ERROR_VALUE_TYPE,
     "Event 0 (numbers), field 6 (u8): It takes unsigned_8, not a boolean."},
    {"number_for_a_boolean", numbers, 0, eventlog_unsigned(1), EVENTLOG_ERROR_VALUE_TYPE,
     "It takes boolean, not an unsigned number."},
    {"real_for_an_integer", numbers, 5, eventlog_real(1), EVENTLOG_ERROR_VALUE_TYPE,
     "It takes signed_64, not a real number."},
    {"integer_for_a_real", numbers, 11, eventlog_signed(1), EVENTLOG_ERROR_VALUE_TYPE,
     "It takes float_64, not a signed number."},
    {"text_for_a_number", numbers, 8, eventlog_text("8"), EVENTLOG_ERROR_VALUE_TYPE,
     "It takes unsigned_32, not a text."},
    {"bytes_for_a_text", texts, 1, eventlog_bytes("", 0), EVENTLOG_ERROR_VALUE_TYPE,
     "It takes text, not bytes."},
    {"text_for_bytes", texts, 2, eventlog_text(""), EVENTLOG_ERROR_VALUE_TYPE,
     "It takes bytes, not a text."},
    {"array_of_texts", texts, 1, eventlog_array(EVENTLOG_TYPE_TEXT, "", 1),
     EVENTLOG_ERROR_VALUE_TYPE, "It takes text, not an array"},
    {"unknown_type",
     texts,
     0,
     {99, 0, 0, {false}},
     EVENTLOG_ERROR_VALUE_TYPE,
     "not a value of an unknown type."},
    {"single_for_an_array", arrays, 0, eventlog_unsigned(1), EVENTLOG_ERROR_VALUE_TYPE,
     "It takes an array of 6 unsigned_8, not an unsigned number."},
    {"array_of_another_type", arrays, 0,
     eventlog_array(EVENTLOG_TYPE_SIGNED_8, some_bytes.data(), 6), EVENTLOG_ERROR_VALUE_TYPE,
     "It takes an array of 6 unsigned_8, not an array of another type."},
    {"array_of_another_count", arrays, 0,
     eventlog_array(EVENTLOG_TYPE_UNSIGNED_8, some_bytes.data(), 5), EVENTLOG_ERROR_VALUE_COUNT,
     "It has 6 elements, not 5."},
    {"array_without_memory", arrays, 0, eventlog_array(EVENTLOG_TYPE_UNSIGNED_8, nullptr, 6),
     EVENTLOG_ERROR_ARGUMENT, "The pointer to its 6 bytes or elements is NULL."},
    {"text_without_memory", texts, 1, eventlog_text_of(nullptr, 5), EVENTLOG_ERROR_ARGUMENT,
     "The pointer to its 5 bytes"},
    {"bytes_without_memory", texts, 2, eventlog_bytes(nullptr, 5), EVENTLOG_ERROR_ARGUMENT,
     "The pointer to its 5 bytes"},
    {"absent_number", numbers, 3, eventlog_absent(), EVENTLOG_ERROR_VALUE_ABSENT,
     "Event 0 (numbers), field 3 (i16): It is not optional."},
    {"minus_129_in_8_bits", numbers, 2, eventlog_signed(-129), EVENTLOG_ERROR_VALUE_RANGE,
     "The number -129 does not fit into signed_8. Define a wider field."},
    {"plus_128_in_8_bits", numbers, 2, eventlog_signed(128), EVENTLOG_ERROR_VALUE_RANGE,
     "The number 128 does not fit into signed_8."},
    {"unsigned_in_signed_64", numbers, 5, eventlog_unsigned(1ULL << 63U),
     EVENTLOG_ERROR_VALUE_RANGE, "The number 9223372036854775808 does not fit into signed_64."},
    {"negative_in_unsigned_64", numbers, 9, eventlog_signed(-1), EVENTLOG_ERROR_VALUE_RANGE,
     "The number -1 does not fit into unsigned_64. Define a signed field."},
    {"unsigned_in_32_bits", numbers, 8, eventlog_unsigned(1ULL << 32U), EVENTLOG_ERROR_VALUE_RANGE,
     "The number 4294967296 does not fit into unsigned_32."},
    {"large_character", numbers, 1, eventlog_unsigned(256), EVENTLOG_ERROR_VALUE_RANGE,
     "The number 256 does not fit into character."},
    {"large_real", numbers, 10, eventlog_real(1e300), EVENTLOG_ERROR_VALUE_RANGE,
     "The number 1e+300 does not fit into float_32."},
    {"length_that_is_none", texts, 1, eventlog_text_of("", SIZE_MAX - 1),
     EVENTLOG_ERROR_VALUE_RANGE, "cannot be right."},
    {"session_that_is_a_text", in_session, 0, eventlog_text("x"), EVENTLOG_ERROR_VALUE_TYPE,
     "field 0 (session): It takes unsigned_64"},
};

std::vector<eventlog_value> valid_values(event id) {
    static const std::array<double, 200> reals{};
    switch (id) {
        case numbers:
            return valid_numbers();
        case arrays:
            return {eventlog_array(EVENTLOG_TYPE_UNSIGNED_8, some_bytes.data(), 6),
                    eventlog_array(EVENTLOG_TYPE_FLOAT_64, reals.data(), 200),
                    eventlog_array(EVENTLOG_TYPE_SIGNED_16, some_bytes.data(), 3),
                    eventlog_unsigned(99),
                    eventlog_array(EVENTLOG_TYPE_BOOLEAN, some_bytes.data(), 2)};
        case in_session:
            return {eventlog_unsigned(1), eventlog_unsigned(2)};
        default:
            return {eventlog_unsigned(7), eventlog_text("a"), eventlog_bytes("b", 1),
                    eventlog_text("c")};
    }
}

class invalid_value : public testing::TestWithParam<wrong_values> {};

TEST_P(invalid_value, is_rejected_with_error_text_enabled_or_not) {
    std::vector<eventlog_value> values = valid_values(GetParam().id);
    EXPECT_EQ(emit(GetParam().id, values), EVENTLOG_ERROR_NONE);
    values[GetParam().index] = GetParam().value;
    EXPECT_EQ(emit(GetParam().id, values), GetParam().code);
    event_listener listener("values_test:*");
    EXPECT_EQ(emit(GetParam().id, values), GetParam().code);
    std::array<char, EVENTLOG_TEXT_SIZE> text{};
    EXPECT_EQ(eventlog_check_values(provider(), GetParam().id, values.data(), values.size(),
                                    text.data(), text.size()),
              GetParam().code);
    EXPECT_NE(std::string_view(text.data()).find(GetParam().sentence), std::string_view::npos)
        << text.data();
    listener.finish();
    EXPECT_TRUE(listener.records().empty());
    EXPECT_EQ(listener.lost_by_providers(), 0U);
}

INSTANTIATE_TEST_SUITE_P(each, invalid_value, testing::ValuesIn(wrong_cases),
                         [](const auto& tested) { return tested.param.name; });

TEST(emit_values, accepts_extreme_values) {
    provider();
    event_listener listener("values_test:*");
    std::vector<eventlog_value> values = valid_numbers();
    values[1] = eventlog_signed(-128);
    values[2] = eventlog_unsigned(127);
    values[3] = eventlog_signed(-32768);
    values[4] = eventlog_unsigned(2147483647);
    values[6] = eventlog_signed(255);
    values[10] = eventlog_real(std::numeric_limits<double>::infinity());
    const received_record record = emit_and_receive(listener, numbers, values);
    EXPECT_EQ(std::get<std::int64_t>(listener.field(record, "i8")), 127);
    EXPECT_EQ(std::get<std::int64_t>(listener.field(record, "i16")), -32768);
    EXPECT_EQ(std::get<std::int64_t>(listener.field(record, "i32")), 2147483647);
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "u8")), 255U);
    EXPECT_TRUE(std::isinf(std::get<float>(listener.field(record, "f32"))));
}

TEST(emit_values, rejects_wrong_value_count_and_unknown_event) {
    std::array<char, EVENTLOG_TEXT_SIZE> text{};
    const auto check = [&](eventlog_provider* asked, std::uint32_t id, const eventlog_value* values,
                           std::size_t count) {
        const eventlog_error code =
            eventlog_check_values(asked, id, values, count, text.data(), text.size());
        EXPECT_EQ(code, eventlog_emit(asked, id, values, count));
        return code;
    };
    const std::vector<eventlog_value> values(5, eventlog_unsigned(1));
    EXPECT_EQ(check(provider(), texts, values.data(), 5), EVENTLOG_ERROR_VALUE_COUNT);
    EXPECT_STREQ(text.data(),
                 "Event 3 (texts): It has 4 fields, not 5. Hand over one value for each.");
    EXPECT_EQ(check(provider(), texts, values.data(), 3), EVENTLOG_ERROR_VALUE_COUNT);
    EXPECT_EQ(check(provider(), in_session, values.data(), 1), EVENTLOG_ERROR_VALUE_COUNT);
    EXPECT_STREQ(text.data(),
                 "Event 6 (in_session): It has 2 fields with the session, not 1. Hand over one "
                 "value for each, or emit it with eventlog_session_emit.");
    EXPECT_EQ(check(provider(), texts, nullptr, 4), EVENTLOG_ERROR_ARGUMENT);
    EXPECT_STREQ(text.data(), "Event 3 (texts): The pointer to its values is NULL. Set it.");
    EXPECT_EQ(check(provider(), 8, values.data(), 5), EVENTLOG_ERROR_EVENT);
    EXPECT_NE(std::string_view(text.data()).find("no event 8, but 0 to 7"), std::string_view::npos);
    EXPECT_EQ(check(nullptr, 0, values.data(), 5), EVENTLOG_ERROR_NOT_DEFINED);
    EXPECT_EQ(check(provider(), texts, valid_values(texts).data(), 4), EVENTLOG_ERROR_NONE);
    EXPECT_STREQ(text.data(), "");
}

TEST(emit_values, preserves_errno) {
    provider();
    event_listener listener("values_test:*");
    errno = 4711;
    static_cast<void>(emit(texts, valid_values(texts)));
    EXPECT_EQ(errno, 4711);
}

}  // namespace
