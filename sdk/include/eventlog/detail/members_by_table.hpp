// SPDX-License-Identifier: MIT
//
// Counts the members of a plain struct, and passes them to a function: see members.hpp.
//
// A structured binding names all members of a struct if their number is known, and a requires
// expression tests whether a struct accepts that many initializers. Both are spelled out here for
// each number of members, without recursion, tuples or a template for each member. Otherwise this
// would be the largest part of a provider's compile time.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <eventlog/metadata.hpp>
#include <eventlog/schema_format.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

/// Operations on structs of `Count` members, at most schema_format::fields_max + 1:
///
///     fits<Struct>         whether `Struct` accepts that many initializers {}
///     with(object, use)    use(member, member, ...)
template <std::size_t Count>
struct members;

template <>
struct members<0> {
    template <class Struct>
    static constexpr bool fits = requires {
        Struct{};
    };
    template <class Struct, class Use>
    [[gnu::always_inline]] static constexpr decltype(auto) with(Struct& /*object*/,
                                                                Use use) noexcept {
        return use();
    }
};

// clang-format off
#define EVENTLOG_BRACES_1 {}
#define EVENTLOG_BRACES_2 {}, {}
#define EVENTLOG_BRACES_3 {}, {}, {}
#define EVENTLOG_BRACES_4 {}, {}, {}, {}
#define EVENTLOG_BRACES_5 {}, {}, {}, {}, {}
#define EVENTLOG_BRACES_6 {}, {}, {}, {}, {}, {}
#define EVENTLOG_BRACES_7 {}, {}, {}, {}, {}, {}, {}
#define EVENTLOG_BRACES_8 {}, {}, {}, {}, {}, {}, {}, {}
#define EVENTLOG_BRACES_9 {}, {}, {}, {}, {}, {}, {}, {}, {}
#define EVENTLOG_BRACES_10 {}, {}, {}, {}, {}, {}, {}, {}, {}, {}
#define EVENTLOG_NAMES_1 m0
#define EVENTLOG_NAMES_2 m0, m1
#define EVENTLOG_NAMES_3 m0, m1, m2
#define EVENTLOG_NAMES_4 m0, m1, m2, m3
#define EVENTLOG_NAMES_5 m0, m1, m2, m3, m4
#define EVENTLOG_NAMES_6 m0, m1, m2, m3, m4, m5
#define EVENTLOG_NAMES_7 m0, m1, m2, m3, m4, m5, m6
#define EVENTLOG_NAMES_8 m0, m1, m2, m3, m4, m5, m6, m7
#define EVENTLOG_NAMES_9 m0, m1, m2, m3, m4, m5, m6, m7, m8
#define EVENTLOG_NAMES_10 m0, m1, m2, m3, m4, m5, m6, m7, m8, m9

// Multiples of ten, with a comma at the end.
#define EVENTLOG_TEN_BRACES_0
#define EVENTLOG_TEN_NAMES_0
#define EVENTLOG_TEN_BRACES_1 EVENTLOG_TEN_BRACES_0 EVENTLOG_BRACES_10,
#define EVENTLOG_TEN_BRACES_2 EVENTLOG_TEN_BRACES_1 EVENTLOG_BRACES_10,
#define EVENTLOG_TEN_BRACES_3 EVENTLOG_TEN_BRACES_2 EVENTLOG_BRACES_10,
#define EVENTLOG_TEN_BRACES_4 EVENTLOG_TEN_BRACES_3 EVENTLOG_BRACES_10,
#define EVENTLOG_TEN_BRACES_5 EVENTLOG_TEN_BRACES_4 EVENTLOG_BRACES_10,
#define EVENTLOG_TEN_BRACES_6 EVENTLOG_TEN_BRACES_5 EVENTLOG_BRACES_10,
#define EVENTLOG_TEN_BRACES_7 EVENTLOG_TEN_BRACES_6 EVENTLOG_BRACES_10,
#define EVENTLOG_TEN_BRACES_8 EVENTLOG_TEN_BRACES_7 EVENTLOG_BRACES_10,
#define EVENTLOG_TEN_BRACES_9 EVENTLOG_TEN_BRACES_8 EVENTLOG_BRACES_10,
#define EVENTLOG_TEN_BRACES_10 EVENTLOG_TEN_BRACES_9 EVENTLOG_BRACES_10,
#define EVENTLOG_TEN_NAMES_1 EVENTLOG_TEN_NAMES_0 m10, m11, m12, m13, m14, m15, m16, m17, m18, m19,
#define EVENTLOG_TEN_NAMES_2 EVENTLOG_TEN_NAMES_1 m20, m21, m22, m23, m24, m25, m26, m27, m28, m29,
#define EVENTLOG_TEN_NAMES_3 EVENTLOG_TEN_NAMES_2 m30, m31, m32, m33, m34, m35, m36, m37, m38, m39,
#define EVENTLOG_TEN_NAMES_4 EVENTLOG_TEN_NAMES_3 m40, m41, m42, m43, m44, m45, m46, m47, m48, m49,
#define EVENTLOG_TEN_NAMES_5 EVENTLOG_TEN_NAMES_4 m50, m51, m52, m53, m54, m55, m56, m57, m58, m59,
#define EVENTLOG_TEN_NAMES_6 EVENTLOG_TEN_NAMES_5 m60, m61, m62, m63, m64, m65, m66, m67, m68, m69,
#define EVENTLOG_TEN_NAMES_7 EVENTLOG_TEN_NAMES_6 m70, m71, m72, m73, m74, m75, m76, m77, m78, m79,
#define EVENTLOG_TEN_NAMES_8 EVENTLOG_TEN_NAMES_7 m80, m81, m82, m83, m84, m85, m86, m87, m88, m89,
#define EVENTLOG_TEN_NAMES_9 EVENTLOG_TEN_NAMES_8 m90, m91, m92, m93, m94, m95, m96, m97, m98, m99,
#define EVENTLOG_TEN_NAMES_10 EVENTLOG_TEN_NAMES_9 \
    m100, m101, m102, m103, m104, m105, m106, m107, m108, m109,

// Units range from 1 to 10, so that no list ends with a comma.
#define EVENTLOG_MEMBERS(tens, units)                                                             \
    template <>                                                                                   \
    struct members<10 * (tens) + (units)> {                                                       \
        template <class Struct>                                                                   \
        static constexpr bool fits = requires {                                                   \
            Struct{EVENTLOG_TEN_BRACES_##tens EVENTLOG_BRACES_##units};                           \
        };                                                                                        \
        template <class Struct, class Use>                                                        \
        [[gnu::always_inline]] static constexpr decltype(auto) with(Struct& object,               \
                                                                    Use use) noexcept {           \
            auto& [EVENTLOG_TEN_NAMES_##tens EVENTLOG_NAMES_##units] = object;                    \
            return use(EVENTLOG_TEN_NAMES_##tens EVENTLOG_NAMES_##units);                         \
        }                                                                                         \
    };
#define EVENTLOG_TEN_MEMBERS(tens)                                                                \
    EVENTLOG_MEMBERS(tens, 1) EVENTLOG_MEMBERS(tens, 2) EVENTLOG_MEMBERS(tens, 3)                 \
    EVENTLOG_MEMBERS(tens, 4) EVENTLOG_MEMBERS(tens, 5) EVENTLOG_MEMBERS(tens, 6)                 \
    EVENTLOG_MEMBERS(tens, 7) EVENTLOG_MEMBERS(tens, 8) EVENTLOG_MEMBERS(tens, 9)                 \
    EVENTLOG_MEMBERS(tens, 10)

EVENTLOG_TEN_MEMBERS(0)
EVENTLOG_TEN_MEMBERS(1)
EVENTLOG_TEN_MEMBERS(2)
EVENTLOG_TEN_MEMBERS(3)
EVENTLOG_TEN_MEMBERS(4)
EVENTLOG_TEN_MEMBERS(5)
EVENTLOG_TEN_MEMBERS(6)
EVENTLOG_TEN_MEMBERS(7)
EVENTLOG_TEN_MEMBERS(8)
EVENTLOG_TEN_MEMBERS(9)
EVENTLOG_MEMBERS(10, 1)

#undef EVENTLOG_MEMBERS
#undef EVENTLOG_TEN_MEMBERS
#undef EVENTLOG_BRACES_1
#undef EVENTLOG_BRACES_2
#undef EVENTLOG_BRACES_3
#undef EVENTLOG_BRACES_4
#undef EVENTLOG_BRACES_5
#undef EVENTLOG_BRACES_6
#undef EVENTLOG_BRACES_7
#undef EVENTLOG_BRACES_8
#undef EVENTLOG_BRACES_9
#undef EVENTLOG_BRACES_10
#undef EVENTLOG_NAMES_1
#undef EVENTLOG_NAMES_2
#undef EVENTLOG_NAMES_3
#undef EVENTLOG_NAMES_4
#undef EVENTLOG_NAMES_5
#undef EVENTLOG_NAMES_6
#undef EVENTLOG_NAMES_7
#undef EVENTLOG_NAMES_8
#undef EVENTLOG_NAMES_9
#undef EVENTLOG_NAMES_10
#undef EVENTLOG_TEN_BRACES_0
#undef EVENTLOG_TEN_BRACES_1
#undef EVENTLOG_TEN_BRACES_2
#undef EVENTLOG_TEN_BRACES_3
#undef EVENTLOG_TEN_BRACES_4
#undef EVENTLOG_TEN_BRACES_5
#undef EVENTLOG_TEN_BRACES_6
#undef EVENTLOG_TEN_BRACES_7
#undef EVENTLOG_TEN_BRACES_8
#undef EVENTLOG_TEN_BRACES_9
#undef EVENTLOG_TEN_BRACES_10
#undef EVENTLOG_TEN_NAMES_0
#undef EVENTLOG_TEN_NAMES_1
#undef EVENTLOG_TEN_NAMES_2
#undef EVENTLOG_TEN_NAMES_3
#undef EVENTLOG_TEN_NAMES_4
#undef EVENTLOG_TEN_NAMES_5
#undef EVENTLOG_TEN_NAMES_6
#undef EVENTLOG_TEN_NAMES_7
#undef EVENTLOG_TEN_NAMES_8
#undef EVENTLOG_TEN_NAMES_9
#undef EVENTLOG_TEN_NAMES_10
// clang-format on

/// The largest count: one more than an event may have.
inline constexpr std::size_t members_max = schema_format::fields_max + 1;

template <class Struct, std::size_t Count>
consteval std::size_t count_upwards() {
    if constexpr (Count < members_max) {
        if constexpr (members<Count + 1>::template fits<Struct>) {
            return count_upwards<Struct, Count + 1>();
        }
    }
    return Count;
}

template <class Struct, std::size_t Count>
consteval std::size_t count_downwards() {
    if constexpr (Count == 0 || members<Count>::template fits<Struct>) {
        return Count;
    } else {
        return count_downwards<Struct, Count - 1>();
    }
}

/// Whether a type has an adapter, eventlog::convert.
template <class Type>
concept is_converted = __is_class(Type) && requires(const Type& value) {
    convert<Type>::to_field(value);
};

/// Converts to any type that is a member without {} or with an adapter.
struct any_member {
    template <class Member>
    requires(is_converted<Member> || std::is_default_constructible_v<Member>) operator Member()
        const;
};
template <std::size_t>
using any_member_at = any_member;

template <class Struct, std::size_t... Index>
consteval bool fits_any(std::index_sequence<Index...>) {
    return requires {
        Struct{any_member_at<Index>{}...};
    };
}

/// As count_members, for structs with a member that has an adapter and no default constructor.
/// Slower, and therefore only for these.
template <class Struct, std::size_t Count>
consteval std::size_t count_any_members() {
    if constexpr (Count == 0 || fits_any<Struct>(std::make_index_sequence<Count>{})) {
        return Count;
    } else {
        return count_any_members<Struct, Count - 1>();
    }
}

/// 0 also for a struct with a member that cannot be initialized from {} and has no adapter.
///
/// Counting starts at the number of words, because members of 8 bytes are the most frequent.
template <class Struct>
consteval std::size_t count_members() {
    constexpr std::size_t words = sizeof(Struct) / 8;
    constexpr std::size_t guess = words < members_max ? words : members_max;
    if constexpr (__is_empty(Struct)) {
        return 0;
    } else if constexpr (members<guess>::template fits<Struct>) {
        return count_upwards<Struct, guess>();
    } else if constexpr (constexpr std::size_t count = count_downwards<Struct, guess>();
                         count != 0) {
        return count;
    } else {
        constexpr std::size_t bytes = sizeof(Struct);
        return count_any_members < Struct, bytes < members_max ? bytes : members_max > ();
    }
}

template <class Struct>
using members_of = members<count_members<Struct>()>;

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
