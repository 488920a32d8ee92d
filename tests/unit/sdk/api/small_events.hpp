// SPDX-License-Identifier: MIT
//
// Small events: at most three words and one text, which the fast path writes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"

namespace small_event_test {

using eventlog::test::event_listener;
using eventlog::test::received_record;

// Named by the size of the fixed part before the text.
struct fixed_4 {
    std::string_view text;
};
struct fixed_8 {
    std::uint32_t number;
    std::string_view text;
};
struct fixed_12 {
    std::uint64_t number;
    std::string_view text;
};
struct fixed_16 {
    std::string_view text;
    std::uint64_t number;
    std::uint32_t second;
};
struct fixed_20 {
    std::uint64_t number;
    std::uint32_t second;
    std::uint32_t third;
    std::string_view text;
};
struct fixed_24 {
    std::uint32_t second;
    std::uint64_t number;
    std::string_view text;
    std::uint64_t third;
};
using brief_test =
    eventlog::provider<"brief_test", fixed_4, fixed_8, fixed_12, fixed_16, fixed_20, fixed_24>;

inline constexpr std::uint64_t number = 0x1122334455667788;
inline constexpr std::uint32_t second = 0x99aabbcc;
inline constexpr std::uint32_t third = 0xddeeff01;

inline void emit_all(std::string_view text) {
    brief_test::emit(fixed_4{text});
    brief_test::emit(fixed_8{second, text});
    brief_test::emit(fixed_12{number, text});
    brief_test::emit(fixed_16{text, number, second});
    brief_test::emit(fixed_20{number, second, third, text});
    brief_test::emit(fixed_24{second, number, text, third});
}

template <class Value>
void expect_field(const event_listener& listener, const received_record& record,
                  std::string_view name, Value value) {
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, name)), value) << name;
}

/// Expects the records from `first` on to be the complete events of emit_all.
inline void expect_all(const event_listener& listener, std::size_t first, std::string_view text) {
    ASSERT_GE(listener.records().size(), first + 6);
    for (std::size_t event = 0; event < 6; ++event) {
        const received_record& record = listener.records()[first + event];
        SCOPED_TRACE(listener.event_name(record) + ", " + std::to_string(text.size()) +
                     " characters");
        EXPECT_EQ(record.header.event, event);
        EXPECT_EQ(record.header.flags, 0);
        EXPECT_EQ(record.payload.size(), 4 + 4 * event + text.size() + 1);
        EXPECT_EQ(std::get<std::string_view>(listener.field(record, "text")), text);
        EXPECT_EQ(record.payload.back(), 0);
        EXPECT_TRUE(std::all_of(record.padding.begin(), record.padding.end(),
                                [](std::uint8_t byte) { return byte == 0; }));
        if (event == 1) {
            expect_field(listener, record, "number", second);
        } else if (event != 0) {
            expect_field(listener, record, "number", number);
        }
        if (event > 2) {
            expect_field(listener, record, "second", second);
        }
        if (event > 3) {
            expect_field(listener, record, "third", third);
        }
    }
}

inline std::string some_text(std::size_t size) {
    std::string text(size, ' ');
    for (std::size_t i = 0; i < size; ++i) {
        text[i] = static_cast<char>('!' + i % 93);
    }
    return text;
}

}  // namespace small_event_test
