// SPDX-License-Identifier: MIT
//
// The members of structs as eventlog's headers find them, against Boost.PFR, which uses other
// methods. The headers have an implementation of their own to keep compile times short.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/pfr/core.hpp>
#include <boost/pfr/tuple_size.hpp>
#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

namespace {

using eventlog::detail::member_count;
using eventlog::detail::members_of;

enum class color : std::uint8_t { red };

struct nothing {};
struct one {
    std::uint8_t member;
};
struct bytes {
    std::uint8_t a, b, c, d, e, f, g, h, i, j, k;
};
struct texts {
    std::string_view view;
    std::string owned;
    const char* pointer;
    char* writable;
};
struct scattered {
    char a;
    double b;
    bool c;
    std::uint64_t d;
    std::int16_t e;
    float f;
};
struct arrays {
    std::array<std::uint8_t, 100> many;
    std::array<std::array<std::uint8_t, 2>, 3> rows;
    std::uint8_t behind;
};
struct of_the_library {
    std::optional<std::uint32_t> maybe;
    std::optional<std::string> text;
    std::chrono::nanoseconds lasted;
    std::chrono::system_clock::time_point when;
    std::span<const std::byte> span;
};
struct explicit_type {
    eventlog::ipv4_address v4;
    eventlog::ipv6_address v6;
    eventlog::mac_address mac;
    color shade;
    void* where;
    std::nullptr_t null;
};
struct nested {
    one first;
    struct {
        bytes second;
        std::uint32_t third;
    } inner;
    nothing fourth;
    scattered last;
};
struct with_defaults {
    std::uint32_t number = 7;
    std::string_view text = "text";
    color shade{color::red};
};
struct wide {
    std::uint64_t a0, a1, a2, a3, a4, a5, a6, a7, a8, a9;
    std::uint32_t b0, b1, b2, b3, b4, b5, b6, b7, b8, b9;
    std::uint16_t c0, c1, c2, c3, c4, c5, c6, c7, c8, c9;
    std::uint8_t d0, d1, d2, d3, d4, d5, d6, d7, d8, d9;
    std::string_view e0, e1, e2, e3, e4, e5, e6, e7, e8, e9;
    double f0, f1, f2, f3, f4, f5, f6, f7, f8, f9;
};

template <class Struct>
class members : public testing::Test {};
using structs = testing::Types<nothing, one, bytes, texts, scattered, arrays, of_the_library,
                               explicit_type, nested, with_defaults, wide>;
TYPED_TEST_SUITE(members, structs);

TYPED_TEST(members, count_matches_boost) {
    EXPECT_EQ(member_count<TypeParam>, boost::pfr::tuple_size_v<TypeParam>);
}

template <class Struct, std::size_t... Index>
std::vector<const void*> boost_offsets(const Struct& object, std::index_sequence<Index...>) {
    return {static_cast<const void*>(&boost::pfr::get<Index>(object))...};
}

TYPED_TEST(members, offsets_match_boost) {
    const TypeParam object{};
    const auto found = members_of<TypeParam>::with(object, [](const auto&... member) {
        return std::vector<const void*>{static_cast<const void*>(&member)...};
    });
    EXPECT_EQ(found, boost_offsets(
                         object, std::make_index_sequence<boost::pfr::tuple_size_v<TypeParam>>{}));
}

template <class Struct, std::size_t... Index>
auto types_by_boost(std::index_sequence<Index...>)
    -> eventlog::detail::type_list<boost::pfr::tuple_element_t<Index, Struct>...>;

TYPED_TEST(members, types_match_boost) {
    using indices = std::make_index_sequence<boost::pfr::tuple_size_v<TypeParam>>;
    EXPECT_TRUE((std::is_same_v<eventlog::detail::member_types<TypeParam>,
                                decltype(types_by_boost<TypeParam>(indices{}))>));
}

}  // namespace
