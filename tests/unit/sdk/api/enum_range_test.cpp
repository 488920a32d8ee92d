// SPDX-License-Identifier: MIT
//
// Names of the values in the range of an enum_info.
#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

namespace {

enum class status : std::int16_t {
    lowest = -1000,
    before = -1001,
    minus = -1,
    zero = 0,
    ok = 200,
    moved = 256,
    not_found = 404,
    highest = 2000,
    behind = 2001,
};
consteval auto describe(eventlog::of<status>) {
    return eventlog::enum_info{.range = {-1000, 2000}};
}

// Of the largest size, and mostly outside of the underlying type.
enum class level : std::uint8_t { low = 1, middle = 200, high = 255 };
consteval auto describe(eventlog::of<level>) {
    return eventlog::enum_info{.range = {-3000, 1095}};
}

enum class wide : std::int64_t { last = std::numeric_limits<std::int64_t>::max(), other = 127 };
consteval auto describe(eventlog::of<wide>) {
    return eventlog::enum_info{.range = {std::numeric_limits<std::int64_t>::max() - 9,
                                         std::numeric_limits<std::int64_t>::max()}};
}

template <class Enum>
std::string found() {
    std::string text;
    for (const auto& value : eventlog::detail::values_of<Enum>::values) {
        text += std::to_string(value.value) + "=" + std::string(value.name) + " ";
    }
    return text;
}

TEST(enum_range, adds_its_values_to_those_that_are_found_anyway) {
    EXPECT_EQ(found<status>(), "-1=minus 0=zero 256=moved -1000=lowest 200=ok 404=not_found "
                               "2000=highest ");
}

TEST(enum_range, may_exceed_the_underlying_type) {
    EXPECT_EQ(found<level>(), "1=low 200=middle 255=high ");
}

TEST(enum_range, may_end_at_the_largest_number) {
    EXPECT_EQ(found<wide>(), "9223372036854775807=last ");
}

}  // namespace
