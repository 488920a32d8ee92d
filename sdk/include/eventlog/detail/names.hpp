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

/// Behind the characters that a name may have.
constexpr const char* skip_name(const char* name) {
    for (char c = *name;
         (c >= 'a' && c <= 'z') || c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
         c = *++name) {
    }
    return name;
}

/// The name without its scope, up to ';' or ']'. The scope may be a template, or a function with
/// brackets of its own behind it. What has no name of its own, as a template has none, is empty:
/// not an identifier, so it is refused.
constexpr name_view read_type_name(const char* spelled) {
    const char* begin = spelled;
    bool is_sound = true;
    int depth = 0;
    for (;;) {
        const char* const end = skip_name(begin);
        const char c = *end;
        if (c == 0 || (depth == 0 && (c == ';' || c == ']'))) {
            return {begin, is_sound ? static_cast<std::size_t>(end - begin) : 0};
        }
        depth += c == '[' ? 1 : c == ']' ? -1 : 0;
        begin = end + 1;
        is_sound = c == ':';
    }
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
inline constexpr std::size_t row_size = 10;
template <std::size_t Count>
struct addresses {
    const void* rows[(Count + row_size - 1) / row_size][row_size];
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

/// Whether an object can stand there that nobody constructs: its end is that of nothing. clang asks
/// for it, and g++ does not.
template <class Struct>
concept is_constexpr_destructible = __has_trivial_destructor(Struct) || __is_literal_type(Struct);

/// Whether all members have an address that is known: bit-fields have none, and a copy of one that
/// nobody has constructed is no constant; references have somebody else's.
template <class Struct>
concept has_addresses = is_constexpr_destructible<Struct> && requires {
    typename std::bool_constant<(
        static_cast<void>(members_of<Struct>::with(address_source<Struct>.value, find_members{})),
        true)>;
};

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
    const char* begin = address;
    const char* end = address;
    int depth = 0;
    for (char c = *end;; c = *++end) {
        if (c >= 'A' && c <= 'z') {
            continue;  // a letter, most often
        }
        if (depth == 0 && ends_member(c)) {
            return static_cast<std::size_t>(begin - address);
        }
        if (c == ':' || c == '.') {
            begin = end + 1;
        }
        depth += change_of_depth(c);
    }
}

// "& address_source<T>.never_constructed<T>::value.T::first": what stands in front of each T.
inline constexpr std::size_t type_prefix_length = sizeof("& address_source<") - 1;
inline constexpr std::size_t second_type_prefix_length = sizeof(">.never_constructed<") - 1;
inline constexpr std::size_t third_type_prefix_length = sizeof(">::value.") - 1;

/// The same as distance_to_name, in a tenth of the steps where an address is spelled like that.
constexpr std::size_t find_distance(const char* address) {
    const char* const type = address + type_prefix_length;
    if (type[-1] != '<') {
        return distance_to_name(address);
    }
    const char* end = type;
    while (*end != '>') {
        ++end;
    }
    const auto size = static_cast<std::size_t>(end - type);
    const char* const second = end + second_type_prefix_length;
    const char* const third = second + size + third_type_prefix_length;
    if (end[1] != '.' || second[-1] != '<' || second[size] != '>' || third[-1] != '.' ||
        third[size] != ':' || third[size + 1] != ':') {
        return distance_to_name(address);
    }
    return static_cast<std::size_t>(third + size + 2 - address);
}

constexpr const char* find_address(const char* spelled) {
    while (*spelled != '&') {
        ++spelled;
    }
    return spelled;
}

struct shortest {
    char member;
};
/// Compilers spell as much, or more, in front of the first address of any struct.
inline constexpr std::size_t first_address = [] {
    const char* const spelled = spelled_members<member_addresses<shortest>.where, shortest>();
    return static_cast<std::size_t>(find_address(spelled) - spelled);
}();

/// Reads the names of `count` members; one with other characters than an event's name may have is
/// empty. Returns what is behind the last one.
constexpr const char* read_member_names(const char* spelled, std::size_t count, name_view* names) {
    const char* address = find_address(spelled + first_address);
    const std::size_t distance = find_distance(address);
    // From the end of a name to the next name of its row: as long for each; 0: not known.
    std::size_t gap = 0;
    for (std::size_t i = 0;; ++i) {
        const char* const begin = address + distance;
        const char* const end = skip_name(begin);
        const bool is_sound = ends_member(*end);
        names[i] = {begin, is_sound ? static_cast<std::size_t>(end - begin) : 0};
        if (i + 1 == count) {
            return end;
        }
        if (gap != 0 && is_sound && (i + 1) % row_size != 0) {
            address = end + gap;
        } else {
            address = find_address(end);
            gap = is_sound && i == 0 ? static_cast<std::size_t>(address - end) : gap;
        }
    }
}

}  // namespace eventlog::detail
