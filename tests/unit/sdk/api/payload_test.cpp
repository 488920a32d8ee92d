// SPDX-License-Identifier: MIT
//
// An emitted event, received through a real subscription and decoded by its published schema, has
// the emitted values.
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "every_number.hpp"
#include "listener.hpp"

namespace {

using eventlog::test::event_listener;
using eventlog::test::expect_every_number;
using eventlog::test::received_record;

struct every_number {
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
struct every_text {
    std::uint32_t number;
    std::string_view view;
    std::string string;
    const char* pointer;
};
template <class Type>
struct own_allocator : std::allocator<Type> {
    template <class Other>
    struct rebind {
        using other = own_allocator<Other>;
    };
    constexpr own_allocator() = default;
    template <class Other>
    constexpr own_allocator(const own_allocator<Other>& /*other*/) noexcept {}
};
struct own_text {
    std::basic_string<char, std::char_traits<char>, own_allocator<char>> text;
};
struct one_byte {
    std::uint8_t value;
};
enum class color : std::uint8_t { red, green };
struct point {
    std::uint32_t x, y;
};
/// Equal to its payload byte for byte, and the same fields in another order.
struct block {
    std::uint64_t number;
    std::array<double, 3> reals;
    point corner;
    std::array<std::int16_t, 10> row;
    color paint;
    bool yes;
    std::array<char, 2> letters;
};
struct shuffled {
    std::array<char, 2> letters;
    bool yes;
    std::array<std::int16_t, 10> row;
    std::array<double, 3> reals;
    color paint;
    point corner;
    std::uint64_t number;
};
using payload_test = eventlog::provider<"payload_test", every_number, every_text, own_text,
                                        one_byte, block, shuffled>;

/// Emits one event and returns its record.
template <class Event>
received_record emit_and_receive(event_listener& listener, const Event& event) {
    listener.clear_records();
    payload_test::emit(event);
    listener.poll();
    EXPECT_EQ(listener.records().size(), 1U);
    return listener.records().at(0);
}

std::string text_of(const event_listener& listener, const received_record& record,
                    std::string_view field) {
    return std::string(std::get<std::string_view>(listener.field(record, field)));
}

template <class Event>
constexpr bool is_block = eventlog::detail::is_memcpy_payload<Event>;

struct gap_in_the_middle {
    std::uint64_t first;
    std::uint8_t second;
    std::uint32_t third;
};
struct gap_at_the_end {
    std::uint64_t first;
    std::uint32_t second;
};
struct half_a_word {
    std::uint64_t first;
    std::uint32_t second, third, fourth;
};
struct three_halves {
    std::uint32_t first, second, third;
};
struct with_text {
    std::uint64_t first;
    std::string_view second;
};
struct with_optional {
    std::uint64_t first;
    std::optional<std::uint32_t> second;
};
struct with_duration {
    std::chrono::milliseconds first;
};
struct in_session {
    std::uint64_t first;
};
struct nothing {};

}  // namespace

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<in_session>{.session_bound = true};

namespace {

TEST(payload, is_copied_from_object_with_equal_layout) {
    EXPECT_TRUE(is_block<block>);
    EXPECT_TRUE(is_block<point>);
    // Another order than the payload's; padding; no whole words; values outside the struct.
    EXPECT_FALSE(is_block<shuffled>);
    EXPECT_FALSE(is_block<gap_in_the_middle>);
    EXPECT_FALSE(is_block<gap_at_the_end>);
    EXPECT_FALSE(is_block<half_a_word>);
    EXPECT_FALSE(is_block<three_halves>);
    EXPECT_FALSE(is_block<with_text>);
    EXPECT_FALSE(is_block<with_optional>);
    EXPECT_FALSE(is_block<with_duration>);
    EXPECT_FALSE(is_block<in_session>);
    EXPECT_FALSE(is_block<nothing>);
}

TEST(payload, copied_from_object_equals_encoded_fields) {
    event_listener listener("payload_test:*");
    const block whole{0x0123456789abcdef,
                      {1.5, -2.5, 3.5},
                      {7, 8},
                      {-1, 2, -3, 4, -5, 6, -7, 8, -9, 10},
                      color::green,
                      true,
                      {'a', 'b'}};
    const shuffled same{whole.letters, whole.yes,    whole.row,   whole.reals,
                        whole.paint,   whole.corner, whole.number};
    const received_record as_block = emit_and_receive(listener, whole);
    const received_record as_fields = emit_and_receive(listener, same);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&whole);
    EXPECT_EQ(as_block.payload, std::vector<std::uint8_t>(bytes, bytes + sizeof whole));
    EXPECT_EQ(as_block.payload.size(), as_fields.payload.size());
    for (const received_record& record : {as_block, as_fields}) {
        EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "number")), whole.number);
        EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "corner_y")), 8U);
        EXPECT_EQ(std::get<bool>(listener.field(record, "yes")), true);
    }
    listener.clear_records();
    payload_test::emit([&] { return whole; });
    listener.poll();
    EXPECT_EQ(listener.records().at(0).payload, as_block.payload);
}

TEST(payload, carries_every_number) {
    event_listener listener("payload_test:*");
    const received_record record = emit_and_receive(
        listener,
        every_number{true, 'x', -8, -1600, -320000, std::numeric_limits<int64_t>::min(), 200, 60000,
                     4000000000U, std::numeric_limits<uint64_t>::max(), 1.5F, -2.25});
    EXPECT_EQ(listener.event_name(record), "every_number");
    expect_every_number(listener, record);
}

TEST(payload, carries_every_kind_of_text) {
    event_listener listener("payload_test:*");
    const received_record record =
        emit_and_receive(listener, every_text{7, "view", "string", "pointer"});
    EXPECT_EQ(text_of(listener, record, "view"), "view");
    EXPECT_EQ(text_of(listener, record, "string"), "string");
    EXPECT_EQ(text_of(listener, record, "pointer"), "pointer");
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "number")), 7U);
}

TEST(payload, distinguishes_empty_text_from_null) {
    event_listener listener("payload_test:*");
    const received_record record = emit_and_receive(listener, every_text{7, {}, "", nullptr});
    EXPECT_EQ(text_of(listener, record, "view"), "");
    EXPECT_EQ(text_of(listener, record, "string"), "");
    EXPECT_TRUE(std::holds_alternative<elog::null_text>(listener.field(record, "pointer")));
}

TEST(payload, keeps_nul_characters_inside_a_text) {
    using namespace std::string_view_literals;
    event_listener listener("payload_test:*");
    const received_record record = emit_and_receive(listener, every_text{7, "a\0b"sv, "", ""});
    EXPECT_EQ(text_of(listener, record, "view"), std::string("a\0b", 3));
}

TEST(payload, carries_strings_with_another_allocator) {
    event_listener listener("payload_test:*");
    const received_record record = emit_and_receive(listener, own_text{"in memory of its own"});
    EXPECT_EQ(text_of(listener, record, "text"), "in memory of its own");
}

TEST(payload, carries_texts_around_size_limits) {
    event_listener listener("payload_test:*");
    // Sizes around words, around the limit for payloads assembled on the stack, and the largest.
    for (const std::size_t near : {8U, 16U, 32U, 500U, 512U, 1024U, 4096U, 65400U}) {
        for (std::size_t length = near - 8; length < near + 9; ++length) {
            // Adjacent characters differ, so that a copy at a wrong offset is detected.
            std::string text;
            for (std::size_t i = 0; i < length; ++i) {
                text += static_cast<char>('a' + (length + i + i / 26) % 26);
            }
            const received_record record =
                emit_and_receive(listener, every_text{1, text, "second", "third"});
            EXPECT_EQ(text_of(listener, record, "view"), text);
            EXPECT_EQ(text_of(listener, record, "string"), "second");
            EXPECT_EQ(text_of(listener, record, "pointer"), "third");
        }
    }
}

TEST(payload, of_maximum_size_is_carried_and_larger_is_counted) {
    event_listener listener("payload_test:*");
    // Fixed part 16, three texts with their NUL, two of them empty.
    const std::size_t largest = EVENTLOG_RECORD_SIZE_MAX - EVENTLOG_EXTENDED_HEADER_SIZE - 16 - 3;
    const received_record record =
        emit_and_receive(listener, every_text{1, std::string(largest, 'x'), "", ""});
    EXPECT_EQ(record.payload.size(), EVENTLOG_RECORD_SIZE_MAX - EVENTLOG_EXTENDED_HEADER_SIZE);
    EXPECT_EQ(text_of(listener, record, "view").size(), largest);
    listener.clear_records();
    payload_test::emit(every_text{1, std::string(largest + 1, 'x'), "", ""});
    payload_test::emit(every_text{1, std::string(10 * largest, 'x'), "", ""});
    listener.finish();
    EXPECT_TRUE(listener.records().empty());
    EXPECT_EQ(listener.lost_by_providers(), 2U);
}

TEST(payload, shorter_than_a_word_is_padded_with_zeros) {
    event_listener listener("payload_test:*");
    const received_record record = emit_and_receive(listener, one_byte{0xff});
    EXPECT_EQ(record.payload, std::vector<std::uint8_t>{0xff});
}

TEST(payload, has_thread_and_cpu) {
    event_listener listener("payload_test:*");
    const eventlog::test::pinned_to_one_cpu pinned;
    const received_record record = emit_and_receive(listener, one_byte{1});
    EXPECT_EQ(record.header.thread, static_cast<std::uint32_t>(::gettid()));
    EXPECT_EQ(record.header.cpu, pinned.cpu());
    EXPECT_EQ(record.header.flags, 0U);
}

}  // namespace
