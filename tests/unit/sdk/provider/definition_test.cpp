// SPDX-License-Identifier: MIT
//
// Definitions at run time: what they become, and every mistake that they can contain.
#include "provider/definition.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.h>
#include <eventlog/eventlog.hpp>

#include "every_number.hpp"
#include "schema/schema.hpp"

namespace definition_cases {

enum class color : std::uint8_t { red, green, blue = 7 };
enum class flags : std::uint32_t { first = 1, second = 2, top = 0x80000000U };

constexpr eventlog::keyword receive{3, "receive"};
constexpr eventlog::keyword send{63, "send"};

struct numbers {
    bool yes;
    char letter;
    std::int8_t i8;
    std::int16_t i16;
    std::int32_t i32;
    std::int64_t i64;
    std::uint8_t u8;
    std::uint16_t u16;
    std::uint32_t u32;
    std::uint64_t u64;
    float f32;
    double f64;
};
struct others {
    std::optional<std::uint16_t> maybe;
    std::array<std::uint32_t, 3> row;
    std::string_view text;
    std::span<const std::byte> bytes;
    color paint;
    std::optional<std::string_view> note;
    flags set;
    std::chrono::nanoseconds took;
    std::array<char, 8> tag;
    color other_paint;
};
struct in_session {
    std::uint8_t small;
    std::uint64_t large;
};
struct nothing {};

using same = eventlog::provider<"same", numbers, others, in_session, nothing>;

}  // namespace definition_cases

template <>
inline constexpr eventlog::enum_traits eventlog::enum_traits_of<definition_cases::flags>{
    .combines = true, .values = {{1, "first"}, {2, "second"}, {0x80000000, "top"}}};

template <>
inline constexpr eventlog::event_traits eventlog::traits_of<definition_cases::others>{
    .level = eventlog::level::warn,
    .keywords = definition_cases::receive | definition_cases::send,
    .name = "the_others",
    .description = "Everything else",
    .meaning = "the test says so",
    .kind = eventlog::kind::counter,
    .oversize = eventlog::oversize::cut,
    .fields = {{.of = "row",
                .name = "line",
                .unit = "B",
                .description = "three of them",
                .format = eventlog::format::hexadecimal}}};

template <>
inline constexpr eventlog::event_traits eventlog::traits_of<definition_cases::in_session>{
    .session_bound = true};

template <>
inline constexpr eventlog::provider_traits eventlog::provider_traits_of<definition_cases::same>{
    .description = "Said twice",
    .keywords = {definition_cases::send, definition_cases::receive},
    .dumps = true};

namespace {

using definition_cases::same;
using eventlog::core::built_definition;
using eventlog::core::definition_error;

/// A definition, with everything that it points to, to be changed at will.
struct draft {
    std::vector<eventlog_keyword_definition> keywords;
    std::vector<eventlog_value_definition> values;
    eventlog_enumeration_definition enumeration{"color", nullptr, 0, false};
    std::vector<eventlog_field_definition> fields;
    std::vector<eventlog_event_definition> events;
    eventlog_definition all{EVENTLOG_DEFINITION_SIZES, .name = "drafted"};

    /// Points at what the vectors hold now.
    const eventlog_definition& joined() {
        enumeration.values = values.data();
        enumeration.value_count = static_cast<std::uint32_t>(values.size());
        events.at(0).fields = fields.data();
        events.at(0).field_count = static_cast<std::uint32_t>(fields.size());
        all.keywords = keywords.data();
        all.keyword_count = static_cast<std::uint32_t>(keywords.size());
        all.events = events.data();
        all.event_count = static_cast<std::uint32_t>(events.size());
        return all;
    }
};

draft valid_definition() {
    draft made;
    made.keywords = {{"one", 0}};
    made.values = {{"red", 0}};
    made.fields = {{.name = "first", .type = EVENTLOG_TYPE_UNSIGNED_32},
                   {.name = "second", .type = EVENTLOG_TYPE_TEXT}};
    made.events = {{.name = "happened"}, {.name = "again"}};
    return made;
}

struct outcome {
    eventlog_error code;
    std::string text;
};

/// Checks and builds without publishing; with `view`, shows what was built.
outcome build(const eventlog_definition& definition,
              const std::function<void(const built_definition&)>& view = nullptr) {
    definition_error error;
    const built_definition* built = nullptr;
    eventlog_error code = eventlog::core::check_definition(definition, error);
    if (code == EVENTLOG_ERROR_NONE) {
        code = eventlog::core::build_definition(definition, built, error);
    }
    if (view && built != nullptr) {
        view(*built);
    }
    std::free(const_cast<built_definition*>(built));
    std::array<char, EVENTLOG_TEXT_SIZE> text{};
    error.copy_to(text.data(), text.size());
    return {code, text.data()};
}

TEST(definition, produces_same_bytes_as_cpp_provider) {
    static const eventlog_value_definition colors[] = {{"red", 0}, {"green", 1}, {"blue", 7}};
    static const eventlog_enumeration_definition color{"color", colors, 3, false};
    static const eventlog_value_definition bits[] = {
        {"first", 1}, {"second", 2}, {"top", 0x80000000}};
    static const eventlog_enumeration_definition flags{"flags", bits, 3, true};
    static const eventlog_field_definition others[] = {
        {.name = "maybe", .type = EVENTLOG_TYPE_UNSIGNED_16, .optional = true},
        {.name = "line",
         .type = EVENTLOG_TYPE_UNSIGNED_32,
         .count = 3,
         .format = EVENTLOG_FORMAT_HEXADECIMAL,
         .unit = "B",
         .description = "three of them"},
        {.name = "text", .type = EVENTLOG_TYPE_TEXT},
        {.name = "bytes", .type = EVENTLOG_TYPE_BYTES},
        {.name = "paint", .type = EVENTLOG_TYPE_UNSIGNED_8, .enumeration = &color},
        {.name = "note", .type = EVENTLOG_TYPE_TEXT, .optional = true},
        {.name = "set", .type = EVENTLOG_TYPE_UNSIGNED_32, .enumeration = &flags},
        {.name = "took", .type = EVENTLOG_TYPE_SIGNED_64, .format = EVENTLOG_FORMAT_DURATION},
        {.name = "tag",
         .type = EVENTLOG_TYPE_CHARACTER,
         .count = 8,
         .format = EVENTLOG_FORMAT_CHARACTERS},
        {.name = "other_paint", .type = EVENTLOG_TYPE_UNSIGNED_8, .enumeration = &color}};
    static const eventlog_field_definition in_session[] = {
        {.name = "small", .type = EVENTLOG_TYPE_UNSIGNED_8},
        {.name = "large", .type = EVENTLOG_TYPE_UNSIGNED_64}};
    static const eventlog_keyword_definition keywords[] = {{"send", 63}, {"receive", 3}};
    static const eventlog_event_definition events[] = {
        {.name = "numbers", .fields = eventlog::test::number_fields, .field_count = 12},
        {.name = "the_others",
         .description = "Everything else",
         .meaning = "the test says so",
         .level = EVENTLOG_LEVEL_WARN,
         .kind = EVENTLOG_KIND_COUNTER,
         .keywords = std::uint64_t{1} << 3U | std::uint64_t{1} << 63U,
         .cuts_texts = true,
         .fields = others,
         .field_count = 10},
        {.name = "in_session", .session_bound = true, .fields = in_session, .field_count = 2},
        {.name = "nothing"},
        // What a C++ provider with sessions says itself.
        EVENTLOG_SESSION_BEGIN_EVENT,
        EVENTLOG_SESSION_END_EVENT,
        // And one that dumps.
        EVENTLOG_DUMP_COMPLETE_EVENT};
    const eventlog_definition definition{
        EVENTLOG_DEFINITION_SIZES, .name = "same",     .description = "Said twice",
        .keywords = keywords,      .keyword_count = 2, .events = events,
        .event_count = 7};
    const outcome result = build(definition, [](const built_definition& built) {
        const auto& expected = same::schema();
        EXPECT_EQ(std::vector<std::uint8_t>(built.schema.begin(), built.schema.end()),
                  std::vector<std::uint8_t>(expected.begin(), expected.end()));
    });
    EXPECT_EQ(result.code, EVENTLOG_ERROR_NONE) << result.text;
    EXPECT_EQ(result.text, "");
}

TEST(definition, accepts_larger_structs_with_zero_tail) {
    struct longer {
        eventlog_field_definition known;
        std::uint64_t later = 0;
    };
    longer fields[] = {{{.name = "first", .type = EVENTLOG_TYPE_BOOLEAN}, 0},
                       {{.name = "second", .type = EVENTLOG_TYPE_SIGNED_8}, 0}};
    draft made = valid_definition();
    made.events.resize(1);
    const auto point = [&] {
        static_cast<void>(made.joined());
        made.events[0].fields = &fields[0].known;
        made.events[0].field_count = 2;
        made.all.field_size = sizeof(longer);
    };
    point();
    const outcome fine = build(made.all, [](const built_definition& built) {
        EXPECT_EQ(built.events[0].fields[1].name, "second");
        EXPECT_EQ(built.events[0].fields[1].type, eventlog::field_type::signed_8);
    });
    EXPECT_EQ(fine.code, EVENTLOG_ERROR_NONE) << fine.text;
    fields[1].later = 1;
    const outcome refused = build(made.all);
    EXPECT_EQ(refused.code, EVENTLOG_ERROR_SIZE);
    EXPECT_NE(refused.text.find("Event 0 (happened), field 1 (second): "), std::string::npos);
    EXPECT_NE(refused.text.find("Update libeventlog"), std::string::npos);
}

struct wrong_case {
    const char* name;
    void (*spoil)(draft&);  // the vectors, before they are joined
    eventlog_error code;
    const char* sentence;  // a part of it
};

const std::string long_text(256, 'x');
const std::string long_name(64, 'n');

std::vector<eventlog_value_definition> distinct_values(std::uint32_t count) {
    static std::vector<std::string> names;
    names.clear();
    names.reserve(count);  // so that none of them moves
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
    {"event_meaning", [](draft& made) { made.events[1].meaning = long_text.c_str(); },
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

TEST(definition, accepts_every_enumeration_value_in_range) {
    const struct {
        std::uint32_t type;
        std::int64_t least;
        std::int64_t most;
    } types[] = {
        {EVENTLOG_TYPE_SIGNED_8, INT8_MIN, INT8_MAX},
        {EVENTLOG_TYPE_SIGNED_16, INT16_MIN, INT16_MAX},
        {EVENTLOG_TYPE_SIGNED_32, INT32_MIN, INT32_MAX},
        {EVENTLOG_TYPE_SIGNED_64, INT64_MIN, INT64_MAX},
        {EVENTLOG_TYPE_UNSIGNED_8, 0, UINT8_MAX},
        {EVENTLOG_TYPE_UNSIGNED_16, 0, UINT16_MAX},
        {EVENTLOG_TYPE_UNSIGNED_32, 0, UINT32_MAX},
        {EVENTLOG_TYPE_UNSIGNED_64, INT64_MIN, INT64_MAX},
    };
    for (const auto& [type, least, most] : types) {
        draft made = valid_definition();
        made.values = {{"least", least}, {"most", most}};
        made.fields[0].type = type;
        made.fields[0].enumeration = &made.enumeration;
        EXPECT_EQ(build(made.joined()).code, EVENTLOG_ERROR_NONE) << type;
    }
}

TEST(definition, rejects_null_pointers) {
    draft made = valid_definition();
    made.fields[0].enumeration = &made.enumeration;
    const auto refused = [&](auto& pointer, const char* sentence) {
        static_cast<void>(made.joined());
        pointer = nullptr;
        const outcome result = build(made.all);
        EXPECT_EQ(result.code, EVENTLOG_ERROR_ARGUMENT);
        EXPECT_NE(result.text.find(sentence), std::string::npos) << result.text;
    };
    refused(made.all.events, "counts events or keywords");
    refused(made.all.keywords, "counts events or keywords");
    refused(made.events[0].fields, "Event 0 (happened): It counts fields");
    refused(made.enumeration.values, "enumeration color counts values");
}

TEST(definition, rejects_empty_event_list) {
    draft made = valid_definition();
    static_cast<void>(made.joined());
    made.all.event_count = 0;
    const outcome result = build(made.all);
    EXPECT_EQ(result.code, EVENTLOG_ERROR_COUNT);
    EXPECT_NE(result.text.find("has 0 events"), std::string::npos);
}

TEST(definition, rejects_wrong_struct_size) {
    using sizes = eventlog_definition;
    for (const auto size : {&sizes::size, &sizes::keyword_size, &sizes::value_size,
                            &sizes::enumeration_size, &sizes::field_size, &sizes::event_size}) {
        // (The last one is aligned, and larger than any memory behind it.)
        for (const std::uint32_t wrong : {0U, 4U, 1001U, 0xfffffff8U}) {
            draft made = valid_definition();
            static_cast<void>(made.joined());
            made.all.*size = wrong;
            const outcome result = build(made.all);
            EXPECT_EQ(result.code, EVENTLOG_ERROR_SIZE);
            EXPECT_NE(result.text.find("EVENTLOG_DEFINITION_SIZES"), std::string::npos);
        }
    }
}

TEST(definition, accepts_units_on_all_number_types) {
    draft made = valid_definition();
    for (std::uint32_t type = EVENTLOG_TYPE_SIGNED_8; type <= EVENTLOG_TYPE_FLOAT_64; ++type) {
        made.fields[0] = {.name = "first", .type = type, .unit = "B"};
        EXPECT_EQ(build(made.joined()).code, EVENTLOG_ERROR_NONE) << type;
    }
}

TEST(definition, rejects_too_many_enumerations) {
    std::vector<eventlog_enumeration_definition> enumerations(1025, {"e", nullptr, 0, false});
    std::vector<eventlog_field_definition> fields(1100);
    std::vector<std::string> names(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
        names[i] = "f" + std::to_string(i);
        fields[i] = {.name = names[i].c_str(), .type = EVENTLOG_TYPE_UNSIGNED_8};
    }
    std::vector<eventlog_event_definition> events(11);
    for (std::size_t i = 0; i < events.size(); ++i) {
        events[i] = {
            .name = names[i].c_str(), .fields = fields.data() + i * 100, .field_count = 100};
    }
    const eventlog_definition definition{EVENTLOG_DEFINITION_SIZES, .name = "many",
                                         .events = events.data(), .event_count = 11};
    for (std::size_t i = 0; i < 1024; ++i) {
        fields[i].enumeration = &enumerations[i];
    }
    EXPECT_EQ(build(definition).code, EVENTLOG_ERROR_NONE);
    fields[1024].enumeration = &enumerations[1024];
    const outcome result = build(definition);
    EXPECT_EQ(result.code, EVENTLOG_ERROR_COUNT);
    EXPECT_NE(result.text.find("more than 1024 enumerations"), std::string::npos);
}

TEST(definition, rejects_null_arguments_and_leaves_usable_handle) {
    std::array<char, EVENTLOG_TEXT_SIZE> text{};
    eventlog_provider* provider = nullptr;
    EXPECT_EQ(eventlog_define_provider(nullptr, &provider, text.data(), text.size()),
              EVENTLOG_ERROR_ARGUMENT);
    EXPECT_STREQ(text.data(), "There is no definition. Hand one over.");
    ASSERT_NE(provider, nullptr);
    EXPECT_FALSE(eventlog_enabled(provider, 0));
    EXPECT_FALSE(eventlog_enabled(provider, UINT32_MAX));
    eventlog_emit(provider, 0, nullptr, 0);
    EXPECT_EQ(eventlog_emit_values(provider, 0, nullptr, 0), EVENTLOG_ERROR_NOT_DEFINED);
    EXPECT_EQ(eventlog_provider_status(provider, text.data(), text.size()), EVENTLOG_UNREGISTERED);
    EXPECT_NE(std::string_view(text.data()).find("mistake in its definition"),
              std::string_view::npos);
    eventlog_provider_unregister(provider);
    EXPECT_EQ(eventlog_define_provider(nullptr, nullptr, text.data(), text.size()),
              EVENTLOG_ERROR_ARGUMENT);
    EXPECT_NE(std::string_view(text.data()).find("no place for the handle"),
              std::string_view::npos);
}

TEST(definition, truncates_error_text_to_buffer) {
    eventlog_provider* provider = nullptr;
    char text[8] = "untouch";
    EXPECT_EQ(eventlog_define_provider(nullptr, &provider, nullptr, 0), EVENTLOG_ERROR_ARGUMENT);
    EXPECT_EQ(eventlog_define_provider(nullptr, &provider, text, 0), EVENTLOG_ERROR_ARGUMENT);
    EXPECT_STREQ(text, "untouch");
    EXPECT_EQ(eventlog_define_provider(nullptr, &provider, text, 6), EVENTLOG_ERROR_ARGUMENT);
    EXPECT_STREQ(text, "There");
}

TEST(definition, every_error_has_text) {
    for (int code = 0; code <= EVENTLOG_ERROR_SESSION; ++code) {
        const std::string_view text = eventlog_error_text(static_cast<eventlog_error>(code));
        EXPECT_EQ(text.back(), '.');
        EXPECT_EQ(text.find("not known"), std::string_view::npos) << code;
    }
    EXPECT_NE(std::string_view(eventlog_error_text(static_cast<eventlog_error>(31))).find("Update"),
              std::string_view::npos);
}

}  // namespace
