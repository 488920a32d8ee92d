// SPDX-License-Identifier: MIT
//
// The user_events description of every field type.
#include "kernel/user_events_description.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "schema/schema_binary.hpp"
#include "schema/schema_text.hpp"

namespace user_events_cases {

struct widths {
    std::uint8_t u8;
    std::int8_t i8;
    std::uint16_t u16;
    std::int16_t i16;
    std::uint32_t u32;
    std::int32_t i32;
    std::uint64_t u64;
    std::int64_t i64;
};
enum class color : std::uint16_t { red, green };
struct like_integers {
    bool yes;
    char letter;
    color paint;
    std::chrono::nanoseconds took;
    const void* where;
};
struct fractions {
    float single;
    double twice;
};
struct variable {
    std::uint64_t number;
    std::string_view name;
    std::span<const std::byte> data;
    const char* why;
};
struct arrays {
    std::array<char, 16> tag;
    std::array<std::uint8_t, 6> octets;
    std::array<std::uint32_t, 4> row;
    std::array<double, 2> pair;
    std::array<bool, 1> one;
};
struct letters_at_most {
    std::array<char, 1024> text;
};
struct letters_too_many {
    std::array<char, 1025> text;
};
struct addresses {
    eventlog::ipv4_address four;
    eventlog::ipv6_address six;
    eventlog::mac_address mac;
};
struct inner {
    std::uint16_t port;
    std::uint32_t host;
};
struct nested {
    inner peer;
    std::uint8_t hops;
};
struct optional_ones {
    std::optional<std::uint32_t> count;
    std::optional<std::string_view> note;
};
struct optional_and_namesake {
    std::uint8_t has_count;
    std::uint8_t has_count_;  // NOLINT(readability-identifier-naming): looks like a private member
    std::optional<std::uint8_t> count;
};
struct in_session {
    std::string_view what;
};
struct nothing {};

using described = eventlog::provider<"shop", widths, like_integers, fractions, variable, arrays,
                                     letters_at_most, letters_too_many, addresses, nested,
                                     optional_ones, optional_and_namesake, in_session, nothing>;

}  // namespace user_events_cases

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<user_events_cases::in_session>{
    .session_bound = true};

namespace {

using namespace eventlog::core;
using namespace user_events_cases;

struct outcome {
    bool described = false;
    std::string text;
    std::string error;
};

outcome describe(std::span<const std::uint8_t> bytes, std::string_view name,
                 bool make_unique = false) {
    schema_reader schema;
    error_text error;
    EXPECT_TRUE(schema.open(bytes, error)) << error.text().c_str();
    event_description event;
    while (schema.next_event(event)) {
        if (event.name == name) {
            user_events_description text;
            outcome result;
            result.described = text.describe(schema, event, error);
            result.described = result.described && (!make_unique || text.make_name_unique());
            result.text = text.description();
            result.error = error.text().c_str();
            return result;
        }
    }
    ADD_FAILURE() << "there is no event " << name;
    return {};
}

std::string text_of(std::string_view event) {
    const auto& schema = described::schema();
    const outcome result = describe({schema.data(), schema.size()}, event);
    EXPECT_TRUE(result.described) << result.error;
    return result.text;
}

TEST(user_events_description, names_integers_by_their_offset) {
    EXPECT_EQ(text_of("widths"),
              "eventlog_shop_widths u64 u64; s64 i64; u32 u32; s32 i32; u16 u16; s16 i16; u8 u8; "
              "s8 i8");
}

TEST(user_events_description, maps_integer_like_types_to_integers) {
    EXPECT_EQ(text_of("like_integers"),
              "eventlog_shop_like_integers s64 took; u64 where; u16 paint; u8 yes; char letter");
}

TEST(user_events_description, uses_structs_for_types_unknown_to_kernel) {
    EXPECT_EQ(text_of("fractions"),
              "eventlog_shop_fractions struct f64 twice 8; struct f32 single 4");
    EXPECT_EQ(text_of("addresses"),
              "eventlog_shop_addresses struct u8x4 four 4; struct u8x16 six 16; struct u8x6 mac 6");
}

TEST(user_events_description, uses_dynamic_locations_for_texts_and_bytes) {
    EXPECT_EQ(text_of("variable"),
              "eventlog_shop_variable u64 number; __rel_loc char[] name; __rel_loc u8[] data; "
              "__rel_loc char[] why");
}

TEST(user_events_description, uses_kernel_arrays_for_characters_only) {
    EXPECT_EQ(text_of("arrays"),
              "eventlog_shop_arrays struct f64x2 pair 16; struct u32x4 row 16; char[16] tag; "
              "struct u8x6 octets 6; u8 one");
}

TEST(user_events_description, respects_kernel_array_length_limit) {
    EXPECT_EQ(text_of("letters_at_most"), "eventlog_shop_letters_at_most char[1024] text");
    EXPECT_EQ(text_of("letters_too_many"),
              "eventlog_shop_letters_too_many struct charx1025 text 1025");
}

TEST(user_events_description, names_nested_fields_like_schema) {
    EXPECT_EQ(text_of("nested"), "eventlog_shop_nested u32 peer_host; u16 peer_port; u8 hops");
}

TEST(user_events_description, has_presence_byte_for_optional_fields) {
    EXPECT_EQ(text_of("optional_ones"),
              "eventlog_shop_optional_ones u32 count; __rel_loc char[] note; u8 has_count; "
              "u8 has_note");
    EXPECT_EQ(text_of("optional_and_namesake"),
              "eventlog_shop_optional_and_namesake u8 has_count; u8 has_count_; u8 count; "
              "u8 has_count__");
}

TEST(user_events_description, starts_with_session) {
    EXPECT_EQ(text_of("in_session"), "eventlog_shop_in_session u64 session; __rel_loc char[] what");
    EXPECT_EQ(text_of("session_begin"), "eventlog_shop_session_begin u64 session");
}

TEST(user_events_description, is_name_only_without_fields) {
    EXPECT_EQ(text_of("nothing"), "eventlog_shop_nothing");
}

TEST(user_events_description, has_distinct_name_per_field_set) {
    const auto& schema = described::schema();
    const std::span<const std::uint8_t> bytes(schema.data(), schema.size());
    const outcome one = describe(bytes, "nested", true);
    ASSERT_TRUE(one.described);
    const std::string_view front = "eventlog_shop_nested_";
    const std::string_view fields = " u32 peer_host; u16 peer_port; u8 hops";
    ASSERT_EQ(one.text.size(), front.size() + 8 + fields.size()) << one.text;
    EXPECT_TRUE(one.text.starts_with(front) && one.text.ends_with(fields)) << one.text;
    EXPECT_EQ(one.text.substr(front.size(), 8).find_first_not_of("0123456789abcdef"),
              std::string::npos);
    EXPECT_EQ(describe(bytes, "nested", true).text, one.text);
    const outcome other = describe(bytes, "nothing", true);
    EXPECT_NE(other.text.substr(other.text.size() - 8), one.text.substr(front.size(), 8));
}

/// Describes an event p:e with a description of that many bytes, at least 460.
outcome describe_long(std::size_t size, bool make_unique) {
    std::string fields;
    std::size_t left = size - std::string_view("eventlog_p_e").size();
    for (char name = 'a'; left > 0; ++name) {
        // "; u64 NAME"; the first field has a space instead of "; ".
        const std::size_t frame = name == 'a' ? 5 : 6;
        const std::size_t length =
            left - frame <= 63 ? left - frame : 50;  // 63: the limit of a name
        fields += std::string(length, name) + ": u64\n";
        left -= frame + length;
    }
    const std::string text = "provider p { event e info {\n" + fields + "} }";
    const auto schema = elog::parse_schema_text("x.schema", text).schema;
    return describe(schema.binary, "e", make_unique);
}

TEST(user_events_description, may_use_maximum_length) {
    const outcome longest = describe_long(511, false);
    EXPECT_TRUE(longest.described) << longest.error;
    EXPECT_EQ(longest.text.size(), 511U);
    const outcome too_long = describe_long(512, false);
    EXPECT_FALSE(too_long.described);
    EXPECT_EQ(too_long.error, "its description would be longer than 511 bytes");
    EXPECT_LE(too_long.text.size(), 511U);
}

TEST(user_events_description, may_leave_no_space_for_version_suffix) {
    const outcome longest = describe_long(502, true);
    EXPECT_TRUE(longest.described);
    EXPECT_EQ(longest.text.size(), 511U);
    const outcome too_long = describe_long(503, true);
    EXPECT_FALSE(too_long.described);
    EXPECT_EQ(too_long.text.size(), 503U);
}

TEST(user_events_description, is_empty_for_fields_with_padding) {
    elog::provider_schema schema =
        elog::parse_schema_text("x.schema", "provider p { event e info { a: u32 b: u8? } }").schema;
    ASSERT_TRUE(describe(schema.binary, "e").described);
    schema.events.at(0).fixed_size += 1;
    write_binary(schema);
    const outcome refused = describe(schema.binary, "e");
    EXPECT_FALSE(refused.described);
    EXPECT_EQ(refused.error, "its fields overlap or leave room between them");
}

}  // namespace
