// SPDX-License-Identifier: MIT
//
// An event as the flat row of fields that it is in its payload: members of nested structs stand in
// the place of the struct, `peer.port` as `peer_port`.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <boost/pfr/core.hpp>
#include <boost/pfr/tuple_size.hpp>

#include <eventlog/detail/fields.hpp>
#include <eventlog/detail/names.hpp>
#include <eventlog/schema_format.hpp>

namespace eventlog::detail {

template <class Struct, std::size_t Index>
using member_of = std::remove_cv_t<boost::pfr::tuple_element_t<Index, Struct>>;

template <class Struct>
consteval std::size_t count_members() {
    if constexpr (std::is_empty_v<Struct>) {
        return 0;
    } else {
        return boost::pfr::tuple_size_v<Struct>;
    }
}

template <class Field>
consteval std::size_t count_leaves();

template <class Struct, std::size_t... Index>
consteval std::size_t count_leaves_in(std::index_sequence<Index...>) {
    return (std::size_t{0} + ... + count_leaves<member_of<Struct, Index>>());
}

/// How many fields of the payload a member is.
template <class Field>
consteval std::size_t count_leaves() {
    if constexpr (nested_field<Field>) {
        static_assert(!contains_c_array<Field>(),
                      "eventlog: a struct in an event has a C array as field. Use std::array, or "
                      "std::string_view for text.");
        return count_leaves_in<Field>(std::make_index_sequence<count_members<Field>()>{});
    } else {
        static_cast<void>(check_field<Field>{});
        return 1;
    }
}

/// The members' first leaves, and behind them the number of all leaves.
template <class Struct>
inline constexpr auto first_leaves = [] {
    constexpr std::size_t members = count_members<Struct>();
    std::array<std::size_t, members + 1> first{};
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
        static_cast<void>(
            ((first[Index + 1] = first[Index] + count_leaves<member_of<Struct, Index>>()), ...));
    }
    (std::make_index_sequence<members>{});
    return first;
}();

template <class Struct>
consteval std::size_t member_with_leaf(std::size_t leaf) {
    std::size_t member = 0;
    while (first_leaves<Struct>[member + 1] <= leaf) {
        ++member;
    }
    return member;
}

/// The leaf itself, in an object.
template <std::size_t Leaf, class Struct>
[[gnu::always_inline]] constexpr const auto& leaf_in(const Struct& object) noexcept {
    constexpr std::size_t member = member_with_leaf<Struct>(Leaf);
    if constexpr (nested_field<member_of<Struct, member>>) {
        return leaf_in<Leaf - first_leaves<Struct>[member]>(boost::pfr::get<member>(object));
    } else {
        return boost::pfr::get<member>(object);
    }
}

template <class Struct, std::size_t Leaf>
using leaf_of = std::remove_cvref_t<decltype(leaf_in<Leaf>(std::declval<const Struct&>()))>;

/// `outer_inner`: as long as it has to be.
template <class Struct, std::size_t Leaf>
struct leaf_name {
    static constexpr std::size_t member = member_with_leaf<Struct>(Leaf);
    static constexpr std::string_view outer = field_names<Struct>[member];

    static constexpr auto joined = [] {
        if constexpr (nested_field<member_of<Struct, member>>) {
            constexpr std::string_view rest =
                leaf_name<member_of<Struct, member>, Leaf - first_leaves<Struct>[member]>::value();
            std::array<char, outer.size() + 1 + rest.size()> characters{};
            std::size_t size = 0;
            for (const char character : outer) {
                characters[size++] = character;
            }
            characters[size++] = '_';
            for (const char character : rest) {
                characters[size++] = character;
            }
            return characters;
        } else {
            return std::array<char, 0>{};
        }
    }();

    static constexpr std::string_view value() {
        return joined.empty() ? outer : std::string_view(joined.data(), joined.size());
    }
};

}  // namespace eventlog::detail
