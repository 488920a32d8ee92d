// SPDX-License-Identifier: MIT
//
// The text of values at the edges of every type and format: integers keep all their digits.
#include "schema/value_text.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using eventlog::field_type;
using eventlog::format;

/// The text of a number in a field of that type.
template <class Number>
std::string shown(field_type type, format how, Number number) {
    elog::field_schema field;
    field.name = "value";
    field.type = type;
    field.format = how;
    std::vector<std::uint8_t> payload(sizeof number);
    std::memcpy(payload.data(), &number, sizeof number);
    fmt::memory_buffer out;
    elog::append_field(out, {}, field, payload);
    return fmt::to_string(out);
}

std::string shown_unsigned(format how, std::uint64_t number) {
    return shown(field_type::unsigned_64, how, number);
}

std::string shown_signed(format how, std::int64_t number) {
    return shown(field_type::signed_64, how, number);
}

TEST(value_text, has_all_digits_at_the_edges_of_every_type) {
    using limits = std::numeric_limits<double>;
    EXPECT_EQ(shown(field_type::unsigned_8, format::plain, std::uint8_t{255}), "255");
    EXPECT_EQ(shown(field_type::signed_8, format::plain, std::int8_t{-128}), "-128");
    EXPECT_EQ(shown(field_type::unsigned_16, format::plain, std::uint16_t{65535}), "65535");
    EXPECT_EQ(shown(field_type::signed_16, format::plain, std::int16_t{-32768}), "-32768");
    EXPECT_EQ(shown(field_type::unsigned_32, format::plain, UINT32_MAX), "4294967295");
    EXPECT_EQ(shown(field_type::signed_32, format::plain, INT32_MIN), "-2147483648");
    EXPECT_EQ(shown_unsigned(format::plain, UINT64_MAX), "18446744073709551615");
    EXPECT_EQ(shown_signed(format::plain, INT64_MIN), "-9223372036854775808");
    EXPECT_EQ(shown_signed(format::plain, INT64_MAX), "9223372036854775807");
    EXPECT_EQ(shown(field_type::boolean, format::plain, std::uint8_t{255}), "true");
    EXPECT_EQ(shown(field_type::float_64, format::plain, limits::max()), "1.7976931348623157e+308");
    EXPECT_EQ(shown(field_type::float_64, format::plain, limits::denorm_min()), "5e-324");
    EXPECT_EQ(shown(field_type::float_64, format::plain, -limits::infinity()), "-inf");
    EXPECT_EQ(shown(field_type::float_32, format::plain, 3.4028235e+38F), "3.4028235e+38");
}

TEST(value_text, of_hexadecimal_numbers_is_as_wide_as_their_type) {
    EXPECT_EQ(shown(field_type::signed_8, format::hexadecimal, std::int8_t{-1}), "0xff");
    EXPECT_EQ(shown(field_type::signed_16, format::hexadecimal, std::int16_t{-1}), "0xffff");
    EXPECT_EQ(shown(field_type::signed_32, format::hexadecimal, INT32_MIN), "0x80000000");
    EXPECT_EQ(shown_signed(format::hexadecimal, -1), "0xffffffffffffffff");
    EXPECT_EQ(shown_unsigned(format::hexadecimal, UINT64_MAX), "0xffffffffffffffff");
    EXPECT_EQ(shown_unsigned(format::hexadecimal, 0), "0x0");
}

TEST(value_text, of_durations_is_exact) {
    EXPECT_EQ(shown_unsigned(format::duration, 0), "0ns");
    EXPECT_EQ(shown_unsigned(format::duration, 999), "999ns");
    EXPECT_EQ(shown_unsigned(format::duration, 1000), "1us");
    EXPECT_EQ(shown_unsigned(format::duration, 999'999), "999.999us");
    EXPECT_EQ(shown_unsigned(format::duration, 2'500'000), "2.5ms");
    EXPECT_EQ(shown_unsigned(format::duration, 1'000'000'001), "1.000000001s");
    // 104 days: more digits than a double has.
    EXPECT_EQ(shown_unsigned(format::duration, 9'007'199'254'740'993), "9007199.254740993s");
    EXPECT_EQ(shown_unsigned(format::duration, std::uint64_t{1} << 63U), "9223372036.854775808s");
    EXPECT_EQ(shown_unsigned(format::duration, UINT64_MAX), "18446744073.709551615s");
    EXPECT_EQ(shown_signed(format::duration, -1), "-1ns");
    EXPECT_EQ(shown_signed(format::duration, -1500), "-1.5us");
    EXPECT_EQ(shown_signed(format::duration, INT64_MIN), "-9223372036.854775808s");
    EXPECT_EQ(shown(field_type::signed_32, format::duration, INT32_MIN), "-2.147483648s");
}

TEST(value_text, of_times_is_exact) {
    EXPECT_EQ(shown_unsigned(format::monotonic, 9'007'199'254'740'993), "9007199.254740993s");
    EXPECT_EQ(shown_unsigned(format::monotonic, UINT64_MAX), "18446744073.709551615s");
    EXPECT_EQ(shown_signed(format::monotonic, -5), "-0.000000005s");
    EXPECT_EQ(shown_signed(format::monotonic, INT64_MIN), "-9223372036.854775808s");
    EXPECT_EQ(shown_signed(format::realtime, INT64_MAX), "2262-04-11T23:47:16.854775807Z");
    EXPECT_EQ(shown_signed(format::realtime, INT64_MIN), "1677-09-21T00:12:43.145224192Z");
    EXPECT_EQ(shown_signed(format::realtime, -1), "1969-12-31T23:59:59.999999999Z");
    EXPECT_EQ(shown_unsigned(format::realtime, INT64_MAX), "2262-04-11T23:47:16.854775807Z");
    EXPECT_EQ(shown_unsigned(format::realtime, UINT64_MAX), "18446744073709551615ns");
}

TEST(value_text, of_sizes_has_the_largest_unit) {
    EXPECT_EQ(shown_unsigned(format::byte_size, 1023), "1023B");
    EXPECT_EQ(shown_unsigned(format::byte_size, 1536), "1.5KiB");
    EXPECT_EQ(shown_unsigned(format::byte_size, std::uint64_t{1} << 40U), "1TiB");
    EXPECT_EQ(shown_unsigned(format::byte_size, std::uint64_t{1} << 63U), "8EiB");
    EXPECT_EQ(shown_unsigned(format::byte_size, UINT64_MAX), "16EiB");
    EXPECT_EQ(shown_signed(format::byte_size, INT64_MIN), "-9223372036854775808B");
}

TEST(value_text, of_error_numbers_has_their_names) {
    EXPECT_EQ(shown(field_type::signed_32, format::error_number, std::int32_t{-2}), "-2(ENOENT)");
    EXPECT_EQ(shown(field_type::unsigned_8, format::error_number, std::uint8_t{2}), "2(ENOENT)");
    EXPECT_EQ(shown(field_type::signed_32, format::error_number, std::int32_t{0}), "0");
    EXPECT_EQ(shown_unsigned(format::error_number, UINT64_MAX), "18446744073709551615(EPERM)");
    EXPECT_EQ(shown_signed(format::error_number, INT64_MIN), "-9223372036854775808");
}

TEST(value_text, of_numbers_beyond_64_bits_is_exact) {
    const auto text = [](elog::wide_integer number, format how) {
        fmt::memory_buffer out;
        elog::append_number(out, number, how, 8);
        return fmt::to_string(out);
    };
    const elog::wide_integer large = elog::wide_integer{1} << 100;
    EXPECT_EQ(text(large, format::duration), "1267650600228229401496.703205376s");
    EXPECT_EQ(text(-large, format::monotonic), "-1267650600228229401496.703205376s");
    EXPECT_EQ(text(large, format::hexadecimal), "1267650600228229401496703205376");
    EXPECT_EQ(text(large, format::realtime), "1267650600228229401496703205376ns");
    EXPECT_EQ(text(large, format::plain), "1267650600228229401496703205376");
    EXPECT_EQ(text(-1, format::hexadecimal), "0xffffffffffffffff");
}

}  // namespace
