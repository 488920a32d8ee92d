// SPDX-License-Identifier: MIT
//
// Counts the members of a plain struct, and passes them to a function, by Boost.PFR: see
// members.hpp. All files of a program must use the same one.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

#include <boost/pfr/core.hpp>
#include <boost/pfr/tuple_size.hpp>

#include <eventlog/schema_format.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

/// The largest count: one more than an event may have.
inline constexpr std::size_t members_max = schema_format::fields_max + 1;

template <class Struct>
consteval std::size_t count_members() {
    if constexpr (__is_empty(Struct) || !std::is_aggregate_v<Struct>) {
        return 0;
    } else {
        return boost::pfr::tuple_size_v<Struct>;
    }
}

template <class>
struct members_of {
    template <class Struct, class Use>
    [[gnu::always_inline]] static constexpr decltype(auto) with(Struct& object, Use use) noexcept {
        return std::apply(use, boost::pfr::structure_tie(object));
    }
};

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
