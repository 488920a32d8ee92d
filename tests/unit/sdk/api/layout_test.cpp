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
    EXPECT_EQ(layout::locations[1].offset, 0U);   // large
    EXPECT_EQ(layout::locations[4].offset, 8U);   // number
    EXPECT_EQ(layout::locations[2].offset, 16U);  // text
    EXPECT_EQ(layout::locations[6].offset, 20U);  // word
    EXPECT_EQ(layout::locations[3].offset, 24U);  // medium
    EXPECT_EQ(layout::locations[0].offset, 26U);  // small
    EXPECT_EQ(layout::locations[5].offset, 27U);  // flag
}

TEST(layout, has_no_holes) {
    EXPECT_EQ(event_layout<mixed>::fixed_size, 28U);
}

TEST(layout, counts_texts) {
    EXPECT_EQ(event_layout<mixed>::var_field_count, 1U);
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

TEST(layout, covers_every_type) {
    constexpr field_type expected[] = {
        field_type::boolean,     field_type::character,   field_type::signed_8,
        field_type::signed_16,   field_type::signed_32,   field_type::signed_64,
        field_type::unsigned_8,  field_type::unsigned_16, field_type::unsigned_32,
        field_type::unsigned_64, field_type::float_32,    field_type::float_64,
        field_type::text,        field_type::text,        field_type::text};
    for (std::size_t i = 0; i < std::size(expected); ++i) {
        EXPECT_EQ(event_layout<every_type>::locations[i].type, expected[i]) << i;
    }
}

// clang-format off
struct hundred_fields {
    std::uint8_t f0, f1, f2, f3, f4, f5, f6, f7, f8, f9,
        f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
        f20, f21, f22, f23, f24, f25, f26, f27, f28, f29,
        f30, f31, f32, f33, f34, f35, f36, f37, f38, f39,
        f40, f41, f42, f43, f44, f45, f46, f47, f48, f49,
        f50, f51, f52, f53, f54, f55, f56, f57, f58, f59,
        f60, f61, f62, f63, f64, f65, f66, f67, f68, f69,
        f70, f71, f72, f73, f74, f75, f76, f77, f78, f79,
        f80, f81, f82, f83, f84, f85, f86, f87, f88, f89,
        f90, f91, f92, f93, f94, f95, f96, f97, f98, f99;
};
// clang-format on

TEST(layout, supports_structs_of_a_hundred_fields) {
    EXPECT_EQ(event_layout<hundred_fields>::field_count, 100U);
    EXPECT_EQ(event_layout<hundred_fields>::fixed_size, 100U);
    EXPECT_EQ(event_layout<hundred_fields>::locations[99].offset, 99U);
}

struct platform_types {
    long a;
    unsigned long long b;
    std::size_t c;
};

TEST(layout, maps_integers_by_size_and_sign) {
    EXPECT_EQ(event_layout<platform_types>::locations[0].type, field_type::signed_64);
    EXPECT_EQ(event_layout<platform_types>::locations[1].type, field_type::unsigned_64);
    EXPECT_EQ(event_layout<platform_types>::locations[2].type, field_type::unsigned_64);
}

}  // namespace
