// SPDX-License-Identifier: MIT
//
// Finds the names of types and members in the compiler's spelling.
//
// One template for each struct has the struct and the addresses of all its members as arguments.
// Its __PRETTY_FUNCTION__ is read once. The functions use plain pointers, because each call costs
// compile time.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <eventlog/detail/members.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

/// A part of a text with static storage duration.
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

/// Returns the position behind the next "Type = ".
constexpr const char* find_type(const char* spelled) {
    while (*spelled != '=') {
        ++spelled;
    }
    return spelled + 2;
}

/// Returns the position behind the characters of a name.
constexpr const char* skip_name(const char* name) {
    for (char c = *name;
         (c >= 'a' && c <= 'z') || c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
         c = *++name) {
    }
    return name;
}

/// Reads the name without its scope, up to ';' or ']'. The scope may be a template, or a function
/// with brackets behind it. A type without a name of its own, such as a template, has an empty
/// name, which is rejected because it is no identifier.
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

/// Holds an object that is never constructed or read; only addresses of its members are used.
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

#pragma GCC diagnostic push
#if defined(__clang__)
#pragma GCC diagnostic ignored "-Wundefined-internal"
#pragma GCC diagnostic ignored "-Wundefined-var-template"
#endif
/// The same for structs that cannot be constants, because a member with an adapter has no constexpr
/// constructor. Declared only: the addresses of its members are constants all the same.
template <class Struct>
struct [[gnu::visibility("hidden")]] undefined_source {
    static const never_constructed<Struct> source;
};

template <class Struct>
constexpr const Struct& source_of() noexcept {
    if constexpr (__is_literal_type(Struct)) {
        return address_source<Struct>.value;
    } else {
        return undefined_source<Struct>::source.value;
    }
}
#pragma GCC diagnostic pop

/// A class, because clang accepts addresses of subobjects as template arguments only in one; rows,
/// because clang prints at most ten elements of an array.
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

// The initializer fills all rows as one array.
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
    members_of<Struct>::with(source_of<Struct>(), find_members{});

/// Whether never_constructed can hold the struct: its empty destructor must be constexpr. clang
/// requires that, g++ does not.
template <class Struct>
concept is_constexpr_destructible = __has_trivial_destructor(Struct) || __is_literal_type(Struct);

/// Whether the addresses of all members are constants. Bit-fields have none: a copy of one in an
/// unconstructed object is no constant. References have the address of another object.
template <class Struct>
concept has_addresses = is_constexpr_destructible<Struct> && requires {
    typename std::bool_constant<(
        static_cast<void>(members_of<Struct>::with(source_of<Struct>(), find_members{})), true)>;
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

/// The characters behind a member's name.
constexpr bool ends_member(char character) {
    return character == ')' || character == ',' || character == '}';
}

/// The distance from the & of an address to the member's name, which is the same for all members of
/// a struct.
constexpr std::size_t distance_to_name(const char* address) {
    const char* begin = address;
    const char* end = address;
    int depth = 0;
    for (char c = *end;; c = *++end) {
        if (c >= 'A' && c <= 'z') {
            continue;  // the frequent case: a letter
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

// The parts of "& address_source<T>.never_constructed<T>::value.T::first" in front of each T.
inline constexpr std::size_t type_prefix_length = sizeof("& address_source<") - 1;
inline constexpr std::size_t second_type_prefix_length = sizeof(">.never_constructed<") - 1;
inline constexpr std::size_t third_type_prefix_length = sizeof(">::value.") - 1;

/// As distance_to_name, in a tenth of the steps if the address has that form.
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
/// The length of the text in front of the first address; not longer for any other struct.
inline constexpr std::size_t first_address = [] {
    const char* const spelled = spelled_members<member_addresses<shortest>.where, shortest>();
    return static_cast<std::size_t>(find_address(spelled) - spelled);
}();

/// Reads the names of `count` members. A name with characters that a field's name may not have is
/// empty. Returns the position behind the last one.
constexpr const char* read_member_names(const char* spelled, std::size_t count, name_view* names) {
    const char* address = find_address(spelled + first_address);
    const std::size_t distance = find_distance(address);
    // The distance from the end of a name to the address behind it in the same row, which is
    // constant; 0: not known yet.
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

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
