// SPDX-License-Identifier: MIT
//
// An event with a field of each number type, defined in C, and the expected record.
#pragma once

#include <cstdint>
#include <limits>
#include <variant>

#include <gtest/gtest.h>

#include <eventlog/eventlog.h>

#include "listener.hpp"

namespace eventlog::test {

inline const eventlog_field_definition number_fields[] = {
    {.name = "yes", .type = EVENTLOG_TYPE_BOOLEAN},
    {.name = "letter", .type = EVENTLOG_TYPE_CHARACTER},
    {.name = "i8", .type = EVENTLOG_TYPE_SIGNED_8},
    {.name = "i16", .type = EVENTLOG_TYPE_SIGNED_16},
    {.name = "i32", .type = EVENTLOG_TYPE_SIGNED_32},
    {.name = "i64", .type = EVENTLOG_TYPE_SIGNED_64},
    {.name = "u8", .type = EVENTLOG_TYPE_UNSIGNED_8},
    {.name = "u16", .type = EVENTLOG_TYPE_UNSIGNED_16},
    {.name = "u32", .type = EVENTLOG_TYPE_UNSIGNED_32},
    {.name = "u64", .type = EVENTLOG_TYPE_UNSIGNED_64},
    {.name = "f32", .type = EVENTLOG_TYPE_FLOAT_32},
    {.name = "f64", .type = EVENTLOG_TYPE_FLOAT_64}};

/// The values that every test of the event emits.
inline void expect_every_number(const event_listener& listener, const received_record& record) {
    EXPECT_EQ(std::get<bool>(listener.field(record, "yes")), true);
    EXPECT_EQ(std::get<char>(listener.field(record, "letter")), 'x');
    EXPECT_EQ(std::get<std::int64_t>(listener.field(record, "i8")), -8);
    EXPECT_EQ(std::get<std::int64_t>(listener.field(record, "i16")), -1600);
    EXPECT_EQ(std::get<std::int64_t>(listener.field(record, "i32")), -320000);
    EXPECT_EQ(std::get<std::int64_t>(listener.field(record, "i64")),
              std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "u8")), 200U);
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "u16")), 60000U);
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "u32")), 4000000000U);
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "u64")),
              std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(std::get<float>(listener.field(record, "f32")), 1.5F);
    EXPECT_EQ(std::get<double>(listener.field(record, "f64")), -2.25);
}

}  // namespace eventlog::test
