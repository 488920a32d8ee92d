// SPDX-License-Identifier: MIT
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

namespace {

using eventlog::field_type;
using eventlog::detail::event_layout;

struct mixed {
    std::uint8_t small;
    std::uint64_t large;
    std::string_view text;
    std::int16_t medium;
    double number;
    bool flag;
    std::uint32_t word;
};

TEST(layout, sorts_fields_by_alignment_and_keeps_the_declared_order_within) {
    using layout = event_layout<mixed>;
    EXPECT_EQ(layout::places[1].offset, 0U);   // large
    EXPECT_EQ(layout::places[4].offset, 8U);   // number
    EXPECT_EQ(layout::places[2].offset, 16U);  // text
    EXPECT_EQ(layout::places[6].offset, 20U);  // word
    EXPECT_EQ(layout::places[3].offset, 24U);  // medium
    EXPECT_EQ(layout::places[0].offset, 26U);  // small
    EXPECT_EQ(layout::places[5].offset, 27U);  // flag
}

TEST(layout, has_no_holes) {
    EXPECT_EQ(event_layout<mixed>::fixed_size, 28U);
}

TEST(layout, counts_texts) {
    EXPECT_EQ(event_layout<mixed>::piece_count, 1U);
}

struct every_type {
    bool a;
    char b;
    std::int8_t c;
    std::int16_t d;
    std::int32_t e;
    std::int64_t f;
    std::uint8_t g;
    std::uint16_t h;
    std::uint32_t i;
    std::uint64_t j;
    float k;
    double l;
    std::string_view m;
    std::string n;
    const char* o;
};

TEST(layout, knows_every_type) {
    constexpr field_type expected[] = {
        field_type::boolean,     field_type::character,   field_type::signed_8,
        field_type::signed_16,   field_type::signed_32,   field_type::signed_64,
        field_type::unsigned_8,  field_type::unsigned_16, field_type::unsigned_32,
        field_type::unsigned_64, field_type::float_32,    field_type::float_64,
        field_type::text,        field_type::text,        field_type::text};
    for (std::size_t i = 0; i < std::size(expected); ++i) {
        EXPECT_EQ(event_layout<every_type>::places[i].type, expected[i]) << i;
    }
}

struct platform_types {
    long a;
    unsigned long long b;
    std::size_t c;
};

TEST(layout, takes_integers_by_size_and_sign_whatever_they_are_called) {
    EXPECT_EQ(event_layout<platform_types>::places[0].type, field_type::signed_64);
    EXPECT_EQ(event_layout<platform_types>::places[1].type, field_type::unsigned_64);
    EXPECT_EQ(event_layout<platform_types>::places[2].type, field_type::unsigned_64);
}

}  // namespace
