// SPDX-License-Identifier: MIT
//
// Names of types and fields, as the compiler knows them.
//
// Boost.PFR names fields from 1.84 on; before that we ask the compiler for the
// name of a template argument that is the field's address, and cut the field's
// name out of the end of it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include <boost/pfr/core.hpp>
#include <boost/pfr/tuple_size.hpp>

#if __has_include(<boost/pfr/core_name.hpp>)
#include <boost/pfr/core_name.hpp>
#endif

namespace eventlog::detail {

/// The last identifier in `text`, whatever closes the expression behind it.
consteval std::string_view last_identifier(std::string_view text) {
    constexpr std::string_view characters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const auto end = text.find_last_of(characters) + 1;
    const auto before = text.find_last_not_of(characters, end - 1);
    const auto begin = before == std::string_view::npos ? 0 : before + 1;
    return text.substr(begin, end - begin);
}

consteval int change_of_depth(char bracket) {
    const bool opens = bracket == '(' || bracket == '{' || bracket == '<';
    const bool closes = bracket == ')' || bracket == '}' || bracket == '>';
    return opens ? 1 : closes ? -1 : 0;
}

template <class Type>
consteval std::string_view spelled_type() {
    return __PRETTY_FUNCTION__;
}

/// The type as spelled in the function's signature: behind "Type = ", up to ';' or ']'.
template <class Type>
consteval std::string_view type_name() {
    constexpr std::string_view spelled = spelled_type<Type>();
    constexpr auto begin = spelled.find("Type = ") + 7;
    constexpr auto end = spelled.find_first_of(";]", begin);
    constexpr auto qualified = spelled.substr(begin, end - begin);
    constexpr auto colon = qualified.rfind(':');
    // A template's name stays as it is, <...> and all: not an identifier, so it is refused.
    if (colon == std::string_view::npos || qualified.find('<') != std::string_view::npos) {
        return qualified;
    }
    return qualified.substr(colon + 1);
}

#ifdef BOOST_PFR_CORE_NAME_HPP

template <class Aggregate>
consteval auto find_field_names() {
    return []<std::size_t... Index>(std::index_sequence<Index...>) {
        return std::array<std::string_view, sizeof...(Index)>{
            std::string_view(boost::pfr::get_name<Index, Aggregate>())...};
    }
    (std::make_index_sequence<boost::pfr::tuple_size_v<Aggregate>>{});
}

#else

/// An object that nobody constructs or reads: only addresses of its fields are taken.
template <class Aggregate>
union never_constructed {
    char nothing;
    Aggregate value;
    constexpr never_constructed() noexcept : nothing{} {}
    constexpr ~never_constructed() {}
    never_constructed(const never_constructed&) = delete;
    never_constructed& operator=(const never_constructed&) = delete;
};

template <class Aggregate>
inline constexpr never_constructed<Aggregate> address_source{};

/// A class around the pointer, because clang accepts addresses of subobjects only inside one.
template <class Field>
struct field_address {
    const Field* pointer;
};

template <class Field>
field_address(const Field*) -> field_address<Field>;

/// One template for all fields of a struct: compilers take their time for each.
template <auto... Addresses>
consteval std::string_view spelled_addresses() {
    return __PRETTY_FUNCTION__;
}

template <class Aggregate, std::size_t... Index>
consteval std::string_view spelled_fields(std::index_sequence<Index...>) {
    return spelled_addresses<field_address{
        std::addressof(boost::pfr::get<Index>(address_source<Aggregate>.value))}...>();
}

/// g++ spells "[with auto ...Addresses = {field_address<T>{(& ...::first)}, ...}; ...", clang
/// "[Addresses = <field_address<T>{&....first}, ...>]". Each address ends where its brace closes.
template <class Aggregate>
consteval auto find_field_names() {
    constexpr std::size_t count = boost::pfr::tuple_size_v<Aggregate>;
    std::array<std::string_view, count> names{};
    std::string_view rest = spelled_fields<Aggregate>(std::make_index_sequence<count>{});
    constexpr std::string_view behind = "Addresses = ";
    rest.remove_prefix(rest.find(behind) + behind.size() + 1);
    std::size_t found = 0;
    int depth = 0;
    for (std::size_t i = 0; found < count; ++i) {
        depth += change_of_depth(rest[i]);
        if (rest[i] == '}' && depth == 0) {
            names[found++] = last_identifier(rest.substr(0, i));
        }
    }
    return names;
}

#endif

/// The names of a struct's fields, in declared order.
template <class Aggregate>
inline constexpr auto field_names = find_field_names<Aggregate>();

}  // namespace eventlog::detail
