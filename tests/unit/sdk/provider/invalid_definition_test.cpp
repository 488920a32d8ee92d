// SPDX-License-Identifier: MIT
//
// Every error in a definition: its code and its text.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.h>

#include "definition_draft.hpp"

namespace {

using namespace definition_test;

struct wrong_case {
    const char* name;
    void (*spoil)(draft&);  // changes the vectors before they are joined
    eventlog_error code;
    const char* sentence;  // a part of it
};

const std::string long_text(256, 'x');
const std::string long_name(64, 'n');

std::vector<eventlog_value_definition> distinct_values(std::uint32_t count) {
    static std::vector<std::string> names;
    names.clear();
    names.reserve(count);  // keeps the names in place
    std::vector<eventlog_value_definition> values;
    for (std::uint32_t i = 0; i < count; ++i) {
        names.push_back("value_with_a_name_" + std::to_string(i));
        values.push_back({names.back().c_str(), i});
    }
    return values;
}

const wrong_case wrong_cases[] = {
    {"provider_name", [](draft& made) { made.all.name = "9lives"; }, EVENTLOG_ERROR_NAME,
     "\"9lives\" cannot be the name of a provider"},
    {"no_provider_name", [](draft& made) { made.all.name = nullptr; }, EVENTLOG_ERROR_NAME,
     "cannot be the name of a provider"},
    {"long_provider_name", [](draft& made) { made.all.name = long_name.c_str(); },
     EVENTLOG_ERROR_NAME, "cannot be the name of a provider"},
    {"provider_description", [](draft& made) { made.all.description = long_text.c_str(); },
     EVENTLOG_ERROR_TEXT, "description of provider drafted is longer than 255 bytes"},
    {"too_many_events", [](draft& made) { made.events.resize(1025); }, EVENTLOG_ERROR_COUNT,
     "has 1025 events"},
    {"too_many_keywords", [](draft& made) { made.keywords.resize(65); }, EVENTLOG_ERROR_COUNT,
     "has 65 keywords"},
    {"keyword_name", [](draft& made) { made.keywords[0].name = "a b"; }, EVENTLOG_ERROR_NAME,
     "Keyword 0 (\"a b\")"},
    {"keyword_bit", [](draft& made) { made.keywords[0].bit = 64; }, EVENTLOG_ERROR_CHOICE,
     "Keyword 0 (one) has bit 64"},
    {"keyword_bit_twice",
     [](draft& made) {
         made.keywords.push_back({"two", 0});
     },
     EVENTLOG_ERROR_DUPLICATE, "Keywords 0 (one) and 1 (two)"},
    {"keyword_name_twice",
     [](draft& made) {
         made.keywords.push_back({"one", 1});
     },
     EVENTLOG_ERROR_DUPLICATE, "Keywords 0 (one) and 1 (one)"},
    {"event_name", [](draft& made) { made.events[1].name = ""; }, EVENTLOG_ERROR_NAME,
     "Event 1: It cannot be called that"},
    {"event_name_twice", [](draft& made) { made.events[1].name = "happened"; },
     EVENTLOG_ERROR_DUPLICATE, "Event 1 (happened): Event 0 has the same name"},
    {"event_description", [](draft& made) { made.events[1].description = long_text.c_str(); },
     EVENTLOG_ERROR_TEXT, "Event 1 (again): Its description or meaning"},
    {"event_meaning", [](draft& made) { made.events[1].when = long_text.c_str(); },
     EVENTLOG_ERROR_TEXT, "Event 1 (again): Its description or meaning"},
    {"level", [](draft& made) { made.events[0].level = 6; }, EVENTLOG_ERROR_CHOICE,
     "There is no level 6"},
    {"kind", [](draft& made) { made.events[0].kind = 7; }, EVENTLOG_ERROR_CHOICE,
     "There is no kind 7"},
    {"unnamed_keyword", [](draft& made) { made.events[0].keywords = 5; }, EVENTLOG_ERROR_CHOICE,
     "keywords that the provider does not name (0x4)"},
    {"session_begin_of_none",
     [](draft& made) { made.events[0].kind = EVENTLOG_KIND_SESSION_BEGIN; },
     EVENTLOG_ERROR_MISMATCH, "Set session_bound"},
    {"session_end_of_none", [](draft& made) { made.events[0].kind = EVENTLOG_KIND_SESSION_END; },
     EVENTLOG_ERROR_MISMATCH, "Set session_bound"},
    {"too_many_fields", [](draft& made) { made.fields.resize(101); }, EVENTLOG_ERROR_COUNT,
     "It has 101 fields"},
    {"too_many_fields_in_a_session",
     [](draft& made) {
         made.fields.resize(100);
         made.events[0].session_bound = true;
     },
     EVENTLOG_ERROR_COUNT, "It has 100 fields"},
    {"field_name", [](draft& made) { made.fields[1].name = "a-b"; }, EVENTLOG_ERROR_NAME,
     "Event 0 (happened), field 1 (a-b): It cannot be called that"},
    {"no_field_name", [](draft& made) { made.fields[1].name = nullptr; }, EVENTLOG_ERROR_NAME,
     "Event 0 (happened), field 1: It cannot be called that"},
    {"field_name_twice", [](draft& made) { made.fields[1].name = "first"; },
     EVENTLOG_ERROR_DUPLICATE, "field 1 (first): Another field of the event has the same name"},
    {"field_called_session",
     [](draft& made) {
         made.fields[1].name = "session";
         made.events[0].session_bound = true;
     },
     EVENTLOG_ERROR_DUPLICATE, "field 2 (session): A session-bound event has a field of that name"},
    {"unit", [](draft& made) { made.fields[0].unit = long_text.c_str(); }, EVENTLOG_ERROR_TEXT,
     "Its unit or description"},
    {"field_description", [](draft& made) { made.fields[0].description = long_text.c_str(); },
     EVENTLOG_ERROR_TEXT, "Its unit or description"},
    {"no_type", [](draft& made) { made.fields[0].type = 0; }, EVENTLOG_ERROR_CHOICE,
     "There is no type 0"},
    {"type", [](draft& made) { made.fields[0].type = 15; }, EVENTLOG_ERROR_CHOICE,
     "There is no type 15"},
    {"type_that_is_another_in_a_byte", [](draft& made) { made.fields[0].type = 257; },
     EVENTLOG_ERROR_CHOICE, "There is no type 257"},
    {"array_of_texts", [](draft& made) { made.fields[1].count = 2; }, EVENTLOG_ERROR_MISMATCH,
     "Texts and bytes have no arrays"},
    {"format", [](draft& made) { made.fields[0].format = 11; }, EVENTLOG_ERROR_CHOICE,
     "There is no format 11"},
    {"format_of_another_type",
     [](draft& made) { made.fields[1].format = EVENTLOG_FORMAT_DURATION; }, EVENTLOG_ERROR_MISMATCH,
     "Its format does not go with its type"},
    {"format_of_another_count",
     [](draft& made) { made.fields[0].format = EVENTLOG_FORMAT_MAC_ADDRESS; },
     EVENTLOG_ERROR_MISMATCH, "Its format does not go with its type"},
    {"large_array", [](draft& made) { made.fields[0].count = 0xff00 / 4 + 1; },
     EVENTLOG_ERROR_TOO_LARGE, "field 0 (first): With it the event takes more than a record"},
    {"array_whose_size_overflows", [](draft& made) { made.fields[0].count = UINT32_MAX; },
     EVENTLOG_ERROR_TOO_LARGE, "With it the event takes more than a record"},
    {"enumeration_of_a_text", [](draft& made) { made.fields[1].enumeration = &made.enumeration; },
     EVENTLOG_ERROR_MISMATCH, "Only integers have an enumeration"},
    {"enumeration_name",
     [](draft& made) {
         made.enumeration.name = "a::b";
         made.fields[0].enumeration = &made.enumeration;
     },
     EVENTLOG_ERROR_NAME, "Its enumeration has no name that it can have"},
    {"too_many_values",
     [](draft& made) {
         made.values.resize(65536, {"v", 0});
         made.fields[0].enumeration = &made.enumeration;
     },
     EVENTLOG_ERROR_COUNT, "Its enumeration color has 65536 values"},
    {"value_name",
     [](draft& made) {
         made.values[0].name = "dark red";
         made.fields[0].enumeration = &made.enumeration;
     },
     EVENTLOG_ERROR_NAME, "Value 0 (\"dark red\") of its enumeration color"},
    {"name_of_two_values",
     [](draft& made) {
         made.values = {{"red", 0}, {"green", 1}, {"blue", 2}, {"green", 3}};
         made.fields[0].enumeration = &made.enumeration;
     },
     EVENTLOG_ERROR_DUPLICATE, "Values 1 and 3 of enumeration color have the same name, green."},
    {"value_of_two_names",
     [](draft& made) {
         made.values = {{"red", -1}, {"green", 7}, {"blue", 2}, {"scarlet", -1}};
         made.fields[0].type = EVENTLOG_TYPE_SIGNED_32;
         made.fields[0].enumeration = &made.enumeration;
     },
     EVENTLOG_ERROR_DUPLICATE, "Values 0 (red) and 3 (scarlet) of enumeration color are both -1."},
    {"value_below_the_type",
     [](draft& made) {
         made.values = {{"red", -1}, {"green", 7}};
         made.fields[0].enumeration = &made.enumeration;
     },
     EVENTLOG_ERROR_MISMATCH, "Its type cannot hold -1, the value red of its enumeration color."},
    {"value_beyond_the_type",
     [](draft& made) {
         made.values = {{"red", -128}, {"green", 127}, {"blue", 128}};
         made.fields[0].type = EVENTLOG_TYPE_SIGNED_8;
         made.fields[0].enumeration = &made.enumeration;
     },
     EVENTLOG_ERROR_MISMATCH, "Its type cannot hold 128, the value blue of its enumeration color."},
    {"value_beyond_the_type_of_the_second_field_that_has_it",
     [](draft& made) {
         made.values = {{"red", 255}, {"green", 256}};
         made.fields[0].enumeration = &made.enumeration;
         made.fields[1] = {
             .name = "second", .type = EVENTLOG_TYPE_UNSIGNED_8, .enumeration = &made.enumeration};
     },
     EVENTLOG_ERROR_MISMATCH, "field 1 (second): Its type cannot hold 256"},
    {"unit_of_a_text", [](draft& made) { made.fields[1].unit = "B"; }, EVENTLOG_ERROR_MISMATCH,
     "Event 0 (happened), field 1 (second): It has a unit, and is no number"},
    {"unit_of_bytes",
     [](draft& made) {
         made.fields[1] = {.name = "second", .type = EVENTLOG_TYPE_BYTES, .unit = "B"};
     },
     EVENTLOG_ERROR_MISMATCH, "It has a unit, and is no number"},
    {"unit_of_a_boolean",
     [](draft& made) {
         made.fields[1] = {.name = "second", .type = EVENTLOG_TYPE_BOOLEAN, .unit = "B"};
     },
     EVENTLOG_ERROR_MISMATCH, "It has a unit, and is no number"},
    {"large_schema",
     [](draft& made) {
         made.values = distinct_values(65535);
         made.fields[0].enumeration = &made.enumeration;
     },
     EVENTLOG_ERROR_TOO_LARGE, "over 1 MiB"},
};

class invalid_definition : public testing::TestWithParam<wrong_case> {};

TEST_P(invalid_definition, is_rejected_with_error_text) {
    draft made = valid_definition();
    ASSERT_EQ(build(made.joined()).code, EVENTLOG_ERROR_NONE);
    GetParam().spoil(made);
    const outcome result = build(made.joined());
    EXPECT_EQ(result.code, GetParam().code) << result.text;
    EXPECT_NE(result.text.find(GetParam().sentence), std::string::npos) << result.text;
    EXPECT_EQ(result.text.back(), '.') << result.text;
}

INSTANTIATE_TEST_SUITE_P(each, invalid_definition, testing::ValuesIn(wrong_cases),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
