// SPDX-License-Identifier: MIT
//
// Definitions at run time: the schema that they produce, and their limits.
#include "provider/definition.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.h>
#include <eventlog/eventlog.hpp>

#include "definition_draft.hpp"
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
inline constexpr eventlog::enum_info eventlog::enum_info_of<definition_cases::flags>{
    .is_bitmask = true, .values = {{1, "first"}, {2, "second"}, {0x80000000, "top"}}};

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<definition_cases::others>{
    .level = eventlog::level::warn,
    .keywords = definition_cases::receive | definition_cases::send,
    .name = "the_others",
    .description = "Everything else",
    .when = "the test says so",
    .kind = eventlog::kind::gauge,
    .oversize = eventlog::oversize::truncate,
    .fields = {{.member = "row",
                .name = "line",
                .unit = "B",
                .description = "three of them",
                .format = eventlog::format::hexadecimal}},
    .file = "/one/directory/others.hpp",
    .line = 77};

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<definition_cases::in_session>{
    .session_bound = true, .line = 0};

template <>
inline constexpr eventlog::provider_info eventlog::provider_info_of<definition_cases::same>{
    .description = "Said twice",
    .keywords = {definition_cases::send, definition_cases::receive},
    .replays_state = true,
    .file = "same.cpp",
    .line = 70000};

namespace {

using namespace definition_test;
using definition_cases::same;

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
         .when = "the test says so",
         .level = EVENTLOG_LEVEL_WARN,
         .kind = EVENTLOG_KIND_GAUGE,
         .keywords = std::uint64_t{1} << 3U | std::uint64_t{1} << 63U,
         .truncates = true,
         .fields = others,
         .field_count = 10,
         .file = "../another/others.hpp",
         .line = 77},
        {.name = "in_session", .session_bound = true, .fields = in_session, .field_count = 2},
        {.name = "nothing"},
        // The events that a C++ provider with sessions adds,
        EVENTLOG_SESSION_BEGIN_EVENT,
        EVENTLOG_SESSION_END_EVENT,
        // and one with dumps.
        EVENTLOG_STATE_COMPLETE_EVENT};
    const eventlog_definition definition{
        EVENTLOG_DEFINITION_SIZES, .name = "same",     .description = "Said twice",
        .keywords = keywords,      .keyword_count = 2, .events = events,
        .event_count = 7,          .file = "same.cpp", .line = 70000};
    const outcome result = build(definition, [](const built_definition& built) {
        const auto& expected = same::schema();
        EXPECT_EQ(std::vector<std::uint8_t>(built.schema.begin(), built.schema.end()),
                  std::vector<std::uint8_t>(expected.begin(), expected.end()));
    });
    EXPECT_EQ(result.code, EVENTLOG_ERROR_NONE) << result.text;
    EXPECT_EQ(result.text, "");
}

/// The source of the provider and of its first event; line 0: there is none.
std::pair<std::string, std::string> sources_of(const char* file, std::uint32_t line) {
    const eventlog_event_definition event{.name = "e", .file = file, .line = line};
    const eventlog_definition definition{EVENTLOG_DEFINITION_SIZES, .name = "p",  .events = &event,
                                         .event_count = 1,          .file = file, .line = line};
    std::pair<std::string, std::string> found;
    const auto text = [](const eventlog::core::source_description& source) {
        return std::string(source.file) + ':' + std::to_string(source.line);
    };
    const outcome result = build(definition, [&](const built_definition& built) {
        eventlog::core::schema_reader schema;
        eventlog::core::error_text error;
        ASSERT_TRUE(schema.open(built.schema, error)) << error.text().c_str();
        found.first = text(schema.source());
        eventlog::core::event_description read;
        ASSERT_TRUE(schema.next_event(read));
        found.second = text(read.source);
    });
    EXPECT_EQ(result.code, EVENTLOG_ERROR_NONE) << result.text;
    return found;
}

TEST(definition, names_the_file_and_line_that_declare_it) {
    const auto both = [](const std::string& text) { return std::pair(text, text); };
    EXPECT_EQ(sources_of("shop.c", 12), both("shop.c:12"));
    EXPECT_EQ(sources_of("/home/me/../src/shop.c", UINT32_MAX), both("shop.c:4294967295"));
    const std::string longest(255, 'f');
    EXPECT_EQ(sources_of((std::string(100, 'x') + longest).c_str(), 1), both(longest + ":1"));
    EXPECT_EQ(sources_of("shop.c", 0), both(":0"));
    EXPECT_EQ(sources_of("directory/", 1), both(":0"));
    EXPECT_EQ(sources_of("", 1), both(":0"));
    EXPECT_EQ(sources_of(nullptr, 1), both(":0"));
}

TEST(definition, has_a_macro_for_this_place) {
    const eventlog_event_definition event{.name = "e", EVENTLOG_HERE};
    EXPECT_EQ(event.line, static_cast<std::uint32_t>(__LINE__ - 1));
    EXPECT_TRUE(std::string_view(event.file).ends_with("definition_test.cpp"));
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
        // The last size is aligned, and exceeds the memory after it.
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
    EXPECT_EQ(eventlog_provider_create(nullptr, &provider, text.data(), text.size()),
              EVENTLOG_ERROR_ARGUMENT);
    EXPECT_STREQ(text.data(), "There is no definition. Hand one over.");
    ASSERT_NE(provider, nullptr);
    EXPECT_FALSE(eventlog_enabled(provider, 0));
    EXPECT_FALSE(eventlog_enabled(provider, UINT32_MAX));
    eventlog_emit_raw(provider, 0, nullptr, 0);
    EXPECT_EQ(eventlog_emit(provider, 0, nullptr, 0), EVENTLOG_ERROR_NOT_DEFINED);
    EXPECT_EQ(eventlog_provider_status(provider, text.data(), text.size()),
              EVENTLOG_STATUS_UNREGISTERED);
    EXPECT_NE(std::string_view(text.data()).find("mistake in its definition"),
              std::string_view::npos);
    eventlog_provider_destroy(provider);
    EXPECT_EQ(eventlog_provider_create(nullptr, nullptr, text.data(), text.size()),
              EVENTLOG_ERROR_ARGUMENT);
    EXPECT_NE(std::string_view(text.data()).find("no place for the handle"),
              std::string_view::npos);
}

TEST(definition, truncates_error_text_to_buffer) {
    eventlog_provider* provider = nullptr;
    char text[8] = "untouch";
    EXPECT_EQ(eventlog_provider_create(nullptr, &provider, nullptr, 0), EVENTLOG_ERROR_ARGUMENT);
    EXPECT_EQ(eventlog_provider_create(nullptr, &provider, text, 0), EVENTLOG_ERROR_ARGUMENT);
    EXPECT_STREQ(text, "untouch");
    EXPECT_EQ(eventlog_provider_create(nullptr, &provider, text, 6), EVENTLOG_ERROR_ARGUMENT);
    EXPECT_STREQ(text, "There");
}

TEST(definition, every_error_has_text) {
    for (int code = 0; code <= EVENTLOG_ERROR_PATTERN; ++code) {
        const std::string_view text = eventlog_error_text(static_cast<eventlog_error>(code));
        EXPECT_EQ(text.back(), '.');
        EXPECT_EQ(text.find("not known"), std::string_view::npos) << code;
    }
    EXPECT_NE(std::string_view(eventlog_error_text(static_cast<eventlog_error>(31))).find("Update"),
              std::string_view::npos);
}

}  // namespace
