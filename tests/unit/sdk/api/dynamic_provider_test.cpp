// SPDX-License-Identifier: MIT
//
// The C++ class for dynamic providers: values of C++ types, and unregistration.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>

#include "listener.hpp"
#include "process_files.hpp"

namespace {

using eventlog::test::event_listener;

enum class color : std::uint8_t { red, green };

const eventlog_field_definition fields[] = {
    {.name = "yes", .type = EVENTLOG_TYPE_BOOLEAN},
    {.name = "letter", .type = EVENTLOG_TYPE_CHARACTER},
    {.name = "below", .type = EVENTLOG_TYPE_SIGNED_16},
    {.name = "above", .type = EVENTLOG_TYPE_UNSIGNED_64},
    {.name = "real", .type = EVENTLOG_TYPE_FLOAT_32},
    {.name = "paint", .type = EVENTLOG_TYPE_UNSIGNED_8},
    {.name = "literal", .type = EVENTLOG_TYPE_TEXT},
    {.name = "view", .type = EVENTLOG_TYPE_TEXT},
    {.name = "string", .type = EVENTLOG_TYPE_TEXT},
    {.name = "bytes", .type = EVENTLOG_TYPE_BYTES},
    {.name = "none", .type = EVENTLOG_TYPE_UNSIGNED_8, .optional = true},
    {.name = "some", .type = EVENTLOG_TYPE_UNSIGNED_8, .optional = true},
    {.name = "row", .type = EVENTLOG_TYPE_SIGNED_32, .count = 2}};
const eventlog_event_definition events[] = {{.name = "all", .fields = fields, .field_count = 13},
                                            {.name = "nothing"}};
constexpr eventlog_definition definition{EVENTLOG_DEFINITION_SIZES, .name = "dynamic_cpp",
                                         .events = events, .event_count = 2};

/// A provider that dumps its state.
enum : std::uint32_t { value, dumped };
const eventlog_field_definition value_fields[] = {
    {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_32},
    {.name = "text", .type = EVENTLOG_TYPE_TEXT}};
const eventlog_event_definition value_events[] = {
    {.name = "value", .fields = value_fields, .field_count = 2}, EVENTLOG_STATE_COMPLETE_EVENT};
constexpr eventlog_definition value_definition{EVENTLOG_DEFINITION_SIZES, .name = "dynamic_state",
                                               .events = value_events, .event_count = 2};

bool is_published() {
    return eventlog::test::is_published(::getpid(), "dynamic_cpp");
}

TEST(dynamic_provider, accepts_cpp_types) {
    const eventlog::dynamic_provider provider(definition);
    ASSERT_EQ(provider.error(), EVENTLOG_ERROR_NONE) << provider.error_text();
    EXPECT_EQ(provider.error_text(), "");
    EXPECT_EQ(provider.status().code, EVENTLOG_STATUS_OK);
    EXPECT_FALSE(provider.enabled(0));
    event_listener listener("dynamic_cpp:*");
    EXPECT_TRUE(provider.enabled(0));
    const std::array<std::byte, 2> bytes{std::byte{1}, std::byte{2}};
    EXPECT_EQ(provider.emit(0, true, 'x', std::int16_t{-5}, 77U, 1.5F, color::green, "literal",
                            std::string_view("view"), std::string("string"),
                            std::span<const std::byte>(bytes), std::nullopt,
                            std::optional<std::uint8_t>(9), std::array<std::int32_t, 2>{-1, 2}),
              EVENTLOG_ERROR_NONE);
    EXPECT_EQ(provider.emit(1), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(provider.emit(1, 5), EVENTLOG_ERROR_VALUE_COUNT);
    listener.poll();
    ASSERT_EQ(listener.records().size(), 2U);
    const auto& record = listener.records()[0];
    EXPECT_EQ(std::get<bool>(listener.field(record, "yes")), true);
    EXPECT_EQ(std::get<char>(listener.field(record, "letter")), 'x');
    EXPECT_EQ(std::get<std::int64_t>(listener.field(record, "below")), -5);
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "above")), 77U);
    EXPECT_EQ(std::get<float>(listener.field(record, "real")), 1.5F);
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "paint")), 1U);
    EXPECT_EQ(std::get<std::string_view>(listener.field(record, "literal")), "literal");
    EXPECT_EQ(std::get<std::string_view>(listener.field(record, "view")), "view");
    EXPECT_EQ(std::get<std::string_view>(listener.field(record, "string")), "string");
    EXPECT_EQ(std::get<elog::byte_string>(listener.field(record, "bytes")).size(), 2U);
    EXPECT_TRUE(std::holds_alternative<elog::absent_value>(listener.field(record, "none")));
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "some")), 9U);
    EXPECT_EQ(std::get<elog::array_value>(listener.field(record, "row")).count, 2U);
    EXPECT_EQ(listener.event_name(listener.records()[1]), "nothing");
}

TEST(dynamic_provider, accepts_both_byte_types) {
    const eventlog_field_definition data{.name = "data", .type = EVENTLOG_TYPE_BYTES};
    const eventlog_event_definition event{.name = "bytes", .fields = &data, .field_count = 1};
    const eventlog::dynamic_provider provider(
        {EVENTLOG_DEFINITION_SIZES, .name = "dynamic_bytes", .events = &event, .event_count = 1});
    event_listener listener("dynamic_bytes:*");
    std::vector<std::uint8_t> numbers{1, 2, 3};
    EXPECT_EQ(provider.emit(0, std::as_bytes(std::span(numbers))), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(provider.emit(0, std::span<const std::uint8_t>(numbers)), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(provider.emit(0, std::span(numbers)), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(provider.emit(0, numbers), EVENTLOG_ERROR_NONE);
    listener.poll();
    ASSERT_EQ(listener.records().size(), 4U);
    for (const auto& record : listener.records()) {
        const auto received = std::get<elog::byte_string>(listener.field(record, "data"));
        EXPECT_TRUE(std::equal(received.begin(), received.end(), numbers.begin(), numbers.end()));
    }
}

TEST(dynamic_provider, unregisters_on_destruction) {
    {
        const eventlog::dynamic_provider provider(definition);
        EXPECT_TRUE(is_published());
    }
    EXPECT_FALSE(is_published());
}

TEST(dynamic_provider, builds_lazy_values_only_when_enabled) {
    const eventlog::dynamic_provider provider(value_definition);
    unsigned made = 0;
    const auto make = [&] { return std::tuple(++made, std::string("made")); };
    EXPECT_EQ(provider.emit(value, make), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(made, 0U);
    event_listener listener("dynamic_state:value");
    EXPECT_EQ(provider.emit(value, make), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(made, 1U);
    ASSERT_EQ(listener.received_names(), "value");
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[0], "number")), 1U);
    EXPECT_EQ(std::get<std::string_view>(listener.field(listener.records()[0], "text")), "made");
}

TEST(dynamic_provider, checks_lazy_values_when_enabled) {
    const eventlog::dynamic_provider provider(value_definition);
    const auto make = [] { return std::tuple("seven", "text"); };
    EXPECT_EQ(provider.emit(value, make), EVENTLOG_ERROR_NONE);
    event_listener listener("dynamic_state:value");
    EXPECT_EQ(provider.emit(value, make), EVENTLOG_ERROR_VALUE_TYPE);
    EXPECT_EQ(provider.emit(value, [] { return std::tuple(7); }), EVENTLOG_ERROR_VALUE_COUNT);
    EXPECT_EQ(listener.received_names(), "");
}

TEST(dynamic_provider, is_noexcept_if_value_construction_is) {
    const eventlog::dynamic_provider provider(value_definition);
    EXPECT_TRUE(noexcept(provider.emit(value, []() noexcept { return std::tuple(1); })));
    EXPECT_FALSE(noexcept(provider.emit(value, [] { return std::tuple(1); })));
}

std::vector<unsigned> reported;
const eventlog::dynamic_provider* speaker = nullptr;

void note(unsigned listeners) {
    reported.push_back(listeners);
}

TEST(dynamic_provider, reports_listener_changes_until_callback_is_removed) {
    eventlog::dynamic_provider provider(value_definition);
    reported.clear();
    EXPECT_TRUE(provider.on_listeners_changed(note));
    provider.run_callbacks();
    std::optional<event_listener> listener("dynamic_state:value");
    EXPECT_EQ(provider.emit(value, 1, "text"), EVENTLOG_ERROR_NONE);
    listener.reset();
    provider.run_callbacks();
    EXPECT_EQ(reported, (std::vector<unsigned>{0, 1, 0}));
    EXPECT_TRUE(provider.on_listeners_changed(nullptr));
    listener.emplace("dynamic_state:value");
    provider.run_callbacks();
    EXPECT_EQ(reported, (std::vector<unsigned>{0, 1, 0}));
}

TEST(dynamic_provider, passes_context_to_each_callback) {
    eventlog::dynamic_provider provider(value_definition);
    unsigned listeners = 7;
    EXPECT_TRUE(provider.on_listeners_changed(
        [](void* context, unsigned now) { *static_cast<unsigned*>(context) = now; }, &listeners));
    provider.run_callbacks();
    EXPECT_EQ(listeners, 0U);
    unsigned dumps = 0;
    EXPECT_TRUE(provider.on_new_listener([](void* context) { ++*static_cast<unsigned*>(context); },
                                         &dumps));
    const event_listener listener("dynamic_state:value");
    provider.run_callbacks();
    EXPECT_EQ(listeners, 1U);
    EXPECT_EQ(dumps, 1U);
}

void dump_state() {
    EXPECT_EQ(speaker->emit(value, 99, "state"), EVENTLOG_ERROR_NONE);
}

TEST(dynamic_provider, dumps_state_to_new_listener_only_and_marks_completion) {
    eventlog::dynamic_provider provider(value_definition);
    speaker = &provider;
    event_listener early("dynamic_state:*");
    EXPECT_EQ(provider.emit(value, 1, "first"), EVENTLOG_ERROR_NONE);
    EXPECT_TRUE(provider.on_new_listener(dump_state));
    provider.run_callbacks();
    EXPECT_EQ(early.received_names(), "value value state_complete");
    early.clear_records();
    event_listener late("dynamic_state:value");
    EXPECT_EQ(provider.emit(value, 2, "second"), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(late.received_names(), "value state_complete value");
    EXPECT_EQ(std::get<std::uint64_t>(late.field(late.records()[0], "number")), 99U);
    EXPECT_EQ(early.received_names(), "value");
    EXPECT_TRUE(provider.on_new_listener(nullptr));
}

TEST(dynamic_provider, with_invalid_definition_runs_no_callback) {
    eventlog_definition wrong = value_definition;
    wrong.name = "";
    eventlog::dynamic_provider provider(wrong);
    reported.clear();
    EXPECT_TRUE(provider.on_listeners_changed(note));
    EXPECT_TRUE(provider.on_new_listener(dump_state));
    EXPECT_EQ(provider.emit(value, [] { return std::tuple(1, ""); }), EVENTLOG_ERROR_NONE);
    provider.run_callbacks();
    EXPECT_TRUE(reported.empty());
    EXPECT_TRUE(provider.on_listeners_changed(nullptr));
    EXPECT_TRUE(provider.on_new_listener(nullptr));
}

TEST(dynamic_provider, reports_definition_error) {
    eventlog_definition wrong = definition;
    wrong.name = "no name";
    const eventlog::dynamic_provider provider(wrong);
    EXPECT_EQ(provider.error(), EVENTLOG_ERROR_NAME);
    EXPECT_NE(provider.error_text().find("\"no name\""), std::string_view::npos);
    EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NOT_DEFINED);
    EXPECT_FALSE(provider.enabled(0));
}

}  // namespace
