// SPDX-License-Identifier: MIT
#include "schema/decode.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace {

using elog::damaged_value;
using elog::decode_field;
using eventlog::field_type;

bool is_damaged(const elog::field_value& value) {
    return std::holds_alternative<damaged_value>(value);
}

/// A payload of one text field with this size and distance, followed by "abc" and its NUL.
std::vector<std::uint8_t> text_payload(std::uint32_t size, std::uint32_t distance) {
    const std::uint32_t word = size << 16U | distance;
    const auto byte = [word](unsigned shift) { return static_cast<std::uint8_t>(word >> shift); };
    return {byte(0), byte(8), byte(16), byte(24), 'a', 'b', 'c', 0};
}

TEST(decode, number_past_end_is_damage) {
    const std::vector<std::uint8_t> payload(7);
    EXPECT_TRUE(is_damaged(decode_field({"x", field_type::unsigned_64, 0}, payload)));
    EXPECT_TRUE(is_damaged(decode_field({"x", field_type::unsigned_32, 4}, payload)));
    EXPECT_TRUE(is_damaged(decode_field({"x", field_type::unsigned_8, 7}, payload)));
    EXPECT_FALSE(is_damaged(decode_field({"x", field_type::unsigned_8, 6}, payload)));
}

TEST(decode, text_is_read_at_word_offset) {
    const auto payload = text_payload(4, 0);
    EXPECT_EQ(std::get<std::string_view>(decode_field({"x", field_type::text, 0}, payload)), "abc");
}

TEST(decode, text_outside_payload_is_damage) {
    EXPECT_TRUE(is_damaged(decode_field({"x", field_type::text, 0}, text_payload(5, 0))));
    EXPECT_TRUE(is_damaged(decode_field({"x", field_type::text, 0}, text_payload(4, 1))));
    EXPECT_TRUE(is_damaged(decode_field({"x", field_type::text, 0}, text_payload(1, 0xffff))));
    EXPECT_TRUE(is_damaged(decode_field({"x", field_type::text, 0}, text_payload(0xffff, 0))));
}

TEST(decode, text_without_nul_is_damage) {
    EXPECT_TRUE(is_damaged(decode_field({"x", field_type::text, 0}, text_payload(3, 0))));
    EXPECT_TRUE(is_damaged(decode_field({"x", field_type::text, 0}, text_payload(0, 4))));
}

TEST(decode, zero_word_is_null_text) {
    EXPECT_TRUE(std::holds_alternative<elog::null_text>(
        decode_field({"x", field_type::text, 0}, text_payload(0, 0))));
}

}  // namespace
