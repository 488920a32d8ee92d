// SPDX-License-Identifier: MIT
//
// Names of types and fields, as the compiler knows them.
//
// Boost.PFR names fields from 1.84 on; before that we ask the compiler for the
// name of a template argument that is the field's address, and cut the field's
// name out of the end of it.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include <boost/pfr/core.hpp>

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

template <class Aggregate, std::size_t Index>
consteval std::string_view field_name() {
    return boost::pfr::get_name<Index, Aggregate>();
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

template <auto Address>
consteval std::string_view spelled_address() {
    return __PRETTY_FUNCTION__;
}

/// g++ spells "[with auto Address = ...::field)}; std::string_view = ...]", clang "...field}]".
template <class Aggregate, std::size_t Index>
consteval std::string_view field_name() {
    constexpr std::string_view spelled = spelled_address<field_address{
        std::addressof(boost::pfr::get<Index>(address_source<Aggregate>.value))}>();
    return last_identifier(spelled.substr(0, spelled.rfind('}')));
}

#endif

}  // namespace eventlog::detail
