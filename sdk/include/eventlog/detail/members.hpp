// SPDX-License-Identifier: MIT
//
// Counts the members of a plain struct, and passes them to a function: by a table of the library,
// or by Boost.PFR if EVENTLOG_REFLECTION_PFR is defined (decision 053). Each of the two headers
// defines
//
//     count_members<Struct>()              the number of members; 0 also if they cannot be counted.
//                                          A C array counts as one.
//     members_of<Struct>::with(object, use)    calls use(member, member, ...)
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#ifdef EVENTLOG_REFLECTION_PFR
#include <eventlog/detail/members_by_pfr.hpp>
#else
#include <eventlog/detail/members_by_table.hpp>
#endif

namespace eventlog {
inline namespace v0 {
namespace detail {

template <class Struct>
inline constexpr std::size_t member_count = count_members<Struct>();

struct take_first {
    template <class First, class... Others>
    [[gnu::always_inline]] constexpr First& operator()(First& first,
                                                       Others&... /*others*/) const noexcept {
        return first;
    }
};

template <class Struct>
[[gnu::always_inline]] constexpr auto& first_member(Struct& object) noexcept {
    return members_of<std::remove_cv_t<Struct>>::with(object, take_first{});
}

template <class Struct>
using first_member_of = std::remove_cvref_t<decltype(first_member(std::declval<Struct&>()))>;

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
