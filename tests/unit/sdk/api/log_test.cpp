// SPDX-License-Identifier: MIT
//
// Free text as events.
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <eventlog/log.hpp>

#include "listener.hpp"

namespace {

using eventlog::test::event_listener;
using test_log = eventlog::logger<"log_test">;

enum class state : std::uint8_t { idle = 1, busy = 7 };

std::string message_of(const event_listener& listener, std::size_t index = 0) {
    return std::string(
        std::get<std::string_view>(listener.field(listener.records().at(index), "message")));
}

TEST(log, has_an_event_for_each_level) {
    event_listener listener("log_test:*");
    test_log::error("a");
    test_log::warn("b");
    test_log::info("c");
    test_log::verbose("d");
    test_log::trace("e");
    EXPECT_EQ(listener.received_names(), "error warn info verbose trace");
}

TEST(log, replaces_braces_by_arguments) {
    event_listener listener("log_test:*");
    const std::string text = "owned";
    const char* const none = nullptr;
    test_log::info("{} {} {} {} {} {} {{}} {}", std::int64_t{-5},
                   std::numeric_limits<std::uint64_t>::max(), true, 'x', state::busy, text, none);
    ASSERT_EQ(listener.received_names(), "info");
    EXPECT_EQ(message_of(listener), "-5 18446744073709551615 true x 7 owned {} (null)");
}

TEST(log, records_file_and_line_of_the_call) {
    event_listener listener("log_test:*");
    test_log::info("here");
    const int line = __LINE__ - 1;
    ASSERT_EQ(listener.received_names(), "info");
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[0], "line")),
              static_cast<std::uint64_t>(line));
    EXPECT_NE(std::get<std::string_view>(listener.field(listener.records()[0], "file"))
                  .find("log_test.cpp"),
              std::string_view::npos);
}

TEST(log, marks_a_long_message_between_two_characters) {
    event_listener listener("log_test:*");
    // Three bytes each; the limit is no multiple of three.
    std::string text;
    for (int i = 0; i < 400; ++i) {
        text += "\u20ac";
    }
    test_log::info("{}", text);
    test_log::info("{}", std::string(eventlog::log_message_max, 'y'));
    ASSERT_EQ(listener.received_names(), "info info");
    const std::string message = message_of(listener);
    EXPECT_LE(message.size(), eventlog::log_message_max);
    EXPECT_EQ(message.substr(message.size() - 3), "...");
    EXPECT_EQ((message.size() - 3) % 3, 0U);
    EXPECT_EQ(message.substr(0, message.size() - 3), text.substr(0, message.size() - 3));
    EXPECT_EQ(message_of(listener, 1), std::string(eventlog::log_message_max, 'y'));
}

TEST(log, keeps_a_long_message_that_is_no_utf_8) {
    event_listener listener("log_test:*");
    const std::string text = "\xe2\x82\xac" + std::string(2000, '\xac');
    test_log::error("{}", text);
    ASSERT_EQ(listener.received_names(), "error");
    EXPECT_EQ(message_of(listener), text.substr(0, eventlog::log_message_max - 3) + "...");
}

enum class grade : char { a = 'a' };

TEST(log, takes_null_and_volatile_values_and_enumerations_of_characters) {
    event_listener listener("log_test:*");
    const volatile bool flag = true;
    const volatile char letter = 'c';
    const volatile int number = 4;
    test_log::info("{} {} {} {} {}", nullptr, flag, letter, number, grade::a);
    ASSERT_EQ(listener.received_names(), "info");
    EXPECT_EQ(message_of(listener), "(null) true c 4 97");
}

TEST(log, without_a_listener_formats_nothing) {
    struct counted {
        int* conversions;
        operator std::string_view() const {
            ++*conversions;
            return "x";
        }
    };
    int conversions = 0;
    test_log::info("{}", counted{&conversions});
    EXPECT_EQ(conversions, 0);
    event_listener listener("log_test:*");
    test_log::info("{}", counted{&conversions});
    EXPECT_EQ(conversions, 1);
}

TEST(log, function_takes_the_level_as_an_argument) {
    event_listener listener("log:*");
    for (const auto level : {eventlog::level::error, eventlog::level::trace}) {
        eventlog::log(level, "number {}", 4);
    }
    EXPECT_EQ(listener.received_names(), "error trace");
    EXPECT_EQ(message_of(listener), "number 4");
}

}  // namespace
