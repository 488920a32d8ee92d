// SPDX-License-Identifier: MIT
//
// The builder of definitions: equal to providers in C++, its storage, and mistakes.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/dynamic_definition.hpp>
#include <eventlog/dynamic_provider.hpp>
#include <eventlog/eventlog.hpp>

#include "provider/definition.hpp"

namespace builder_cases {

constexpr eventlog::keyword orders{3, "orders"};
constexpr eventlog::keyword stock{40, "stock"};

enum class payment : std::uint8_t { card, cash };
enum class flags : std::uint32_t { first = 1, second = 2 };
consteval auto describe(eventlog::of<flags>) {
    return eventlog::enum_info{.is_bitmask = true};
}

struct order_placed {
    static constexpr eventlog::event_info info{
        .level = eventlog::level::warn,
        .keywords = orders | stock,
        .description = "A customer orders",
        .when = "the basket is confirmed",
        .oversize = eventlog::oversize::truncate,
        .fields = {{.member = "size", .unit = "B", .format = eventlog::format::byte_size},
                   {.member = "note", .description = "of the customer"}},
        .file = "orders.hpp",
        .line = 300};
    bool first;
    std::uint64_t size;
    std::optional<std::string_view> note;
    payment paid_with;
    std::optional<flags> set;
    payment before;
    std::span<const std::byte> data;
    std::array<std::int16_t, 3> row;
    std::array<char, 8> label;
    std::chrono::nanoseconds took;
    eventlog::ipv4_address peer;
    double price;
};
struct visit {
    static constexpr eventlog::event_info info{.session_bound = true, .line = 0};
    std::uint32_t pages;
};
struct closed {};
struct stored {
    std::int64_t items;
};
using same = eventlog::provider<"same_built", order_placed, eventlog::timed<visit>, closed,
                                eventlog::gauge<stored>>;
consteval auto describe(eventlog::of<same>) {
    return eventlog::provider_info{.description = "A shop",
                                   .keywords = {orders, stock},
                                   .replays_state = true,
                                   .file = "/src/shop.cpp",
                                   .line = 12};
}

eventlog::definition_builder build() {
    return eventlog::definition("same_built")
        .description("A shop")
        .source("shop.cpp", 12)
        .keyword(orders)
        .keyword("stock", 40)
        .event("order_placed", {.level = eventlog::level::warn,
                                .keywords = orders | stock,
                                .description = "A customer orders",
                                .when = "the basket is confirmed",
                                .oversize = eventlog::oversize::truncate,
                                .file = "include/orders.hpp",
                                .line = 300})
        .field<bool>("first")
        .field<std::uint64_t>("size", {.unit = "B", .format = eventlog::format::byte_size})
        .field<std::string_view>("note", {.optional = true, .description = "of the customer"})
        .field<payment>("paid_with")
        .field<std::optional<flags>>("set")
        .field<payment>("before")
        .field<std::span<const std::byte>>("data")
        .field<std::array<std::int16_t, 3>>("row")
        .field<std::array<char, 8>>("label")
        .field<std::chrono::nanoseconds>("took")
        .field<eventlog::ipv4_address>("peer")
        .field<double>("price")
        .timed_event("visit", {.session_bound = true})
        .field<std::uint32_t>("pages")
        .event("closed")
        .event("stored", {.kind = eventlog::kind::gauge})
        .field<std::int64_t>("items")
        .sessions()
        .replays_state();
}

}  // namespace builder_cases

namespace {

using eventlog::definition_builder;

/// The schema of a definition, or the error as a text.
std::vector<std::uint8_t> schema_of(const definition_builder& builder) {
    eventlog::core::definition_error error;
    const eventlog::core::built_definition* built = nullptr;
    EXPECT_EQ(eventlog::core::check_definition(builder, error), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(eventlog::core::build_definition(builder, built, error), EVENTLOG_ERROR_NONE);
    if (built == nullptr) {
        return {};
    }
    std::vector<std::uint8_t> schema(built->schema.begin(), built->schema.end());
    eventlog::core::malloc_deleter{}(const_cast<eventlog::core::built_definition*>(built));
    return schema;
}

TEST(dynamic_definition, has_the_schema_of_the_provider_in_cpp) {
    const auto& expected = builder_cases::same::schema();
    EXPECT_EQ(schema_of(builder_cases::build()),
              std::vector<std::uint8_t>(expected.begin(), expected.end()));
}

TEST(dynamic_definition, survives_its_arguments_copies_and_changes) {
    std::string name = "copied";
    definition_builder first = eventlog::definition(name).event(name).field<int>(name);
    name = "overwritten";
    const std::vector<std::uint8_t> before = schema_of(first);
    const definition_builder second = first;
    const definition_builder third = std::move(first);
    EXPECT_EQ(schema_of(second), before);
    EXPECT_EQ(schema_of(third), before);
    first = second;
    first.event("another");
    EXPECT_NE(schema_of(first), before);
    EXPECT_EQ(schema_of(second), before);
    EXPECT_EQ(first.get().event_count, 2U);
}

TEST(dynamic_definition, has_enumerations_of_run_time) {
    definition_builder builder = eventlog::definition("weather");
    const eventlog::enumeration_id sky =
        builder.enumeration("sky", {{"clear", 0}, {"rain", 5}}, true);
    builder.event("measured")
        .field<std::uint8_t>("now", {.enumeration = sky})
        .field<std::uint16_t>("later", {.enumeration = sky});
    const eventlog_definition& definition = builder.get();
    const eventlog_field_definition* fields = definition.events[0].fields;
    ASSERT_NE(fields[0].enumeration, nullptr);
    EXPECT_EQ(fields[0].enumeration, fields[1].enumeration);
    EXPECT_STREQ(fields[0].enumeration->name, "sky");
    EXPECT_TRUE(fields[0].enumeration->is_bitmask);
    ASSERT_EQ(fields[0].enumeration->value_count, 2U);
    EXPECT_STREQ(fields[0].enumeration->values[1].name, "rain");
    EXPECT_EQ(fields[0].enumeration->values[1].value, 5);
    EXPECT_FALSE(schema_of(builder).empty());
}

TEST(dynamic_definition, makes_a_provider) {
    const auto shop = eventlog::definition("built_shop").event("opened").field<bool>("door");
    const eventlog::dynamic_provider provider(shop);
    EXPECT_EQ(provider.error(), EVENTLOG_ERROR_NONE) << provider.error_text();
    EXPECT_EQ(provider.emit(0, true), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(provider.emit(0, "open"), EVENTLOG_ERROR_VALUE_TYPE);
}

eventlog_error error_of(const definition_builder& builder) {
    return eventlog::dynamic_provider(builder).error();
}

TEST(dynamic_definition, leaves_mistakes_to_the_provider) {
    using eventlog::definition;
    using std::string_view_literals::operator""sv;
    EXPECT_EQ(error_of(definition("none")), EVENTLOG_ERROR_COUNT);
    EXPECT_EQ(error_of(definition("field_first").field<int>("lost")), EVENTLOG_ERROR_NAME);
    EXPECT_EQ(error_of(definition("nul\0inside"sv).event("one")), EVENTLOG_ERROR_NAME);
    EXPECT_EQ(error_of(definition("twice").event("one").event("one")), EVENTLOG_ERROR_DUPLICATE);
    EXPECT_EQ(error_of(definition("foreign").event("one").field<int>(
                  "field", {.enumeration = eventlog::enumeration_id{7}})),
              EVENTLOG_ERROR_NAME);
    EXPECT_EQ(
        error_of(definition("mismatch")
                     .event("one")
                     .field<std::string_view>("field", {.format = eventlog::format::hexadecimal})),
        EVENTLOG_ERROR_MISMATCH);
}

}  // namespace
