// SPDX-License-Identifier: MIT
//
// How the compacted encoding stores the events of a schema.
#include "compact/compact_shape.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using elog::compact_mode;
using elog::compact_shape;

elog::field_schema field(eventlog::field_type type, std::uint16_t offset) {
    elog::field_schema made;
    made.type = type;
    made.offset = offset;
    return made;
}

compact_shape shape_of(std::uint16_t fixed, std::vector<elog::field_schema> fields) {
    elog::event_schema event;
    event.fixed_size = fixed;
    event.fields = std::move(fields);
    return elog::compact_shape_of(event);
}

void expect_shape(compact_shape shape, compact_mode mode, unsigned fixed, unsigned word) {
    EXPECT_EQ(shape.mode, mode);
    EXPECT_EQ(shape.fixed, fixed);
    EXPECT_EQ(shape.text_word, word);
    EXPECT_TRUE(elog::is_valid(shape));
}

TEST(compact_shapes, follow_from_schema) {
    using eventlog::field_type;
    expect_shape(shape_of(0, {}), compact_mode::fixed, 0, 0);
    expect_shape(shape_of(255, {field(field_type::unsigned_8, 254)}), compact_mode::fixed, 255, 0);
    expect_shape(shape_of(256, {field(field_type::unsigned_8, 255)}), compact_mode::sized, 0, 0);
    expect_shape(shape_of(20, {field(field_type::text, 16)}), compact_mode::text, 20, 16);
    expect_shape(shape_of(9, {field(field_type::unsigned_8, 8), field(field_type::text, 4)}),
                 compact_mode::text, 9, 4);
    expect_shape(shape_of(4, {field(field_type::bytes, 0)}), compact_mode::sized, 0, 0);
    expect_shape(shape_of(8, {field(field_type::text, 0), field(field_type::text, 4)}),
                 compact_mode::sized, 0, 0);
    expect_shape(shape_of(8, {field(field_type::text, 6)}), compact_mode::sized, 0, 0);
}

}  // namespace
