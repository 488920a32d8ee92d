// SPDX-License-Identifier: MIT
//
// Names of types and members, as the compiler spells them.
//
// One template for each struct is given the struct and the addresses of all its members; what the
// compiler makes of that in words is read once. By plain pointers: compilers take their time for
// each call that they evaluate themselves.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <eventlog/detail/members.hpp>

namespace eventlog::detail {

/// A part of a text that lives as long as the program.
struct name_view {
    const char* begin = nullptr;
    std::size_t size = 0;

    constexpr operator std::string_view() const noexcept { return {begin, size}; }
    friend constexpr bool operator==(const name_view& one, std::string_view other) noexcept {
        return std::string_view(one) == other;
    }
};

template <class Type>
constexpr const char* spelled_type() {
    return __PRETTY_FUNCTION__;
}

/// Behind the next "Type = ".
constexpr const char* find_type(const char* spelled) {
    while (*spelled != '=') {
        ++spelled;
    }
    return spelled + 2;
}

/// The name without its scope, up to ';' or ']'. A template's name stays as it is, <...> and all:
/// not an identifier, so it is refused.
constexpr name_view read_type_name(const char* spelled) {
    const char* begin = spelled;
    const char* end = spelled;
    bool is_template = false;
    for (; *end != ';' && *end != ']'; ++end) {
        if (*end == ':') {
            begin = end + 1;
        }
        is_template = is_template || *end == '<';
    }
    begin = is_template ? spelled : begin;
    return {begin, static_cast<std::size_t>(end - begin)};
}

template <class Type>
constexpr name_view type_name() {
    return read_type_name(find_type(spelled_type<Type>()));
}

/// An object that nobody constructs or reads: only addresses of its members are taken.
template <class Struct>
union never_constructed {
    char nothing;
    Struct value;
    constexpr never_constructed() noexcept : nothing{} {}
    constexpr ~never_constructed() {}
    never_constructed(const never_constructed&) = delete;
    never_constructed& operator=(const never_constructed&) = delete;
};

template <class Struct>
[[gnu::visibility("hidden")]] inline constexpr never_constructed<Struct> address_source{};

/// In a class, because clang accepts addresses of subobjects as arguments only there, and in rows,
/// because it spells no more than ten elements of an array.
template <std::size_t Count>
struct addresses {
    const void* rows[(Count + 9) / 10][10];
};

template <class... Members>
struct type_list {
    static constexpr std::size_t count = sizeof...(Members);
};

template <class... Members>
struct found_members {
    using types = type_list<std::remove_cv_t<Members>...>;
    addresses<sizeof...(Members)> where;
};
template <>
struct found_members<> {
    using types = type_list<>;
};

// The rows are filled as one: where one ends does not matter to anyone.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-braces"
struct find_members {
    template <class... Members>
    constexpr found_members<Members...> operator()(Members&... member) const noexcept {
        if constexpr (sizeof...(Members) == 0) {
            return {};
        } else {
            return {{__builtin_addressof(member)...}};
        }
    }
};
#pragma GCC diagnostic pop

template <class Struct>
using member_types = typename decltype(members_of<Struct>::with(std::declval<const Struct&>(),
                                                                find_members{}))::types;

template <class Struct>
[[gnu::visibility("hidden")]] inline constexpr auto member_addresses =
    members_of<Struct>::with(address_source<Struct>.value, find_members{});

/// g++ spells "... [with auto Where = addresses<N>{... ((const void*)(& source<T>.T::first)), ...};
/// Type = T]", clang "... [Where = {{{&source.value.first, ...}}}, Type = T]".
template <auto Where, class Type>
constexpr const char* spelled_members() {
    return __PRETTY_FUNCTION__;
}

constexpr int change_of_depth(char bracket) {
    const bool opens = bracket == '(' || bracket == '{' || bracket == '<';
    const bool closes = bracket == ')' || bracket == '}' || bracket == '>';
    return opens ? 1 : closes ? -1 : 0;
}

/// What compilers put behind a member's name here.
constexpr bool ends_member(char character) {
    return character == ')' || character == ',' || character == '}';
}

/// From the & of an address to the member's name: the same for all members of a struct.
constexpr std::size_t distance_to_name(const char* address) {
    const char* end = address;
    for (int depth = 0; depth != 0 || !ends_member(*end); ++end) {
        depth += change_of_depth(*end);
    }
    const char* begin = end;
    while (begin[-1] != ':' && begin[-1] != '.') {
        --begin;
    }
    return static_cast<std::size_t>(begin - address);
}

constexpr bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
}

/// Reads the names of `count` members; one with other characters than an event's name may have is
/// empty. Returns what is behind the last one.
constexpr const char* read_member_names(const char* spelled, std::size_t count, name_view* names) {
    std::size_t distance = 0;
    for (std::size_t i = 0; i < count; ++i) {
        while (*spelled != '&') {
            ++spelled;
        }
        distance = i == 0 ? distance_to_name(spelled) : distance;
        spelled += distance;
        const char* begin = spelled;
        while (is_name_character(*spelled)) {
            ++spelled;
        }
        names[i] = {begin, ends_member(*spelled) ? static_cast<std::size_t>(spelled - begin) : 0};
    }
    return spelled;
}

}  // namespace eventlog::detail
