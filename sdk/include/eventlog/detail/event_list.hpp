// SPDX-License-Identifier: MIT
//
// The events of a provider: those it is declared with, and those that it needs itself.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <eventlog/detail/enum_names.hpp>
#include <eventlog/detail/event_texts.hpp>
#include <eventlog/schema_format.hpp>
#include <eventlog/traits.hpp>

namespace eventlog::detail {

struct session_begin {};
struct session_end {};
struct dump_complete {};

}  // namespace eventlog::detail

template <>
inline constexpr eventlog::event_traits eventlog::traits_of<eventlog::detail::session_begin>{
    .level = eventlog::level::info,
    .description = "A session begins",
    .meaning = "the application opens a session",
    .kind = eventlog::kind::session_begin,
    .session_bound = true};

template <>
inline constexpr eventlog::event_traits eventlog::traits_of<eventlog::detail::session_end>{
    .level = eventlog::level::info,
    .description = "A session ends",
    .meaning = "the application closes a session",
    .kind = eventlog::kind::session_end,
    .session_bound = true};

template <>
inline constexpr eventlog::event_traits eventlog::traits_of<eventlog::detail::dump_complete>{
    .level = eventlog::level::error,
    .description = "The present state has been told",
    .meaning = "a listener came late and all of the state has been emitted to it alone",
    .kind = eventlog::kind::dump_complete};

namespace eventlog::detail {

template <class... Events>
struct event_list {};

template <class... First, class... Second>
event_list<First..., Second...> joined(event_list<First...>, event_list<Second...>);

// Not as a fold expression: clang takes no more than 256 operands for one.
template <class... Events>
consteval bool any_session_bound() {
    constexpr std::array<bool, sizeof...(Events)> bound{traits_of<Events>.session_bound...};
    return std::find(bound.begin(), bound.end(), true) != bound.end();
}

template <class... Events>
consteval std::uint64_t all_keywords() {
    std::uint64_t all = 0;
    for (const std::uint64_t keywords : {traits_of<Events>.keywords...}) {
        all |= keywords;
    }
    return all;
}

template <class Provider, class... Events>
using with_own_events = decltype(joined(
    joined(event_list<Events...>{},
           std::conditional_t<any_session_bound<Events...>(),
                              event_list<session_begin, session_end>, event_list<>>{}),
    std::conditional_t<provider_traits_of<Provider>.dumps, event_list<dump_complete>,
                       event_list<>>{}));

template <class Event, class... Events>
consteval std::size_t index_in(event_list<Events...>) {
    constexpr std::array<bool, sizeof...(Events)> same{std::is_same_v<Event, Events>...};
    for (std::size_t i = 0; i < same.size(); ++i) {
        if (same[i]) {
            return i;
        }
    }
    return same.size();
}

template <class... Events>
consteval std::size_t count_in(event_list<Events...>) {
    return sizeof...(Events);
}

template <class Event>
consteval std::uint64_t hash_of_name() {
    std::uint64_t hash = fnv1a_start;
    for (const char character : event_name<Event>()) {
        hash = fnv1a(hash, static_cast<std::uint8_t>(character));
    }
    return hash;
}

/// All mistakes that a provider, its traits and its events together can contain.
template <class Provider, class... Events>
struct check_provider {
    static constexpr const provider_traits& traits = provider_traits_of<Provider>;

    static_assert(sizeof...(Events) <= events_max,
                  "eventlog: a provider has more than 1024 events, with session_begin, session_end "
                  "and dump_complete where it needs them. Split it in two.");

    /// Sorted by their hashes, computed one by one: comparing each of 1024 names with each other is
    /// more than compilers are willing to do in one expression.
    static consteval bool names_are_distinct() {
        constexpr std::array<std::uint64_t, sizeof...(Events)> hashes{hash_of_name<Events>()...};
        std::array<std::uint64_t, sizeof...(Events)> sorted = hashes;
        std::sort(sorted.begin(), sorted.end());
        return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
    }
    static_assert(names_are_distinct(),
                  "eventlog: two events of this provider have the same name. Rename one struct.");

    static_assert(std::string_view(traits.description).size() <= description_length_max,
                  "eventlog: the description of this provider is longer than 255 bytes.");

    static consteval bool keywords_are_sound() {
        for (std::size_t i = 0; i < keywords_max; ++i) {
            const keyword& word = traits.keywords[i];
            const std::string_view name = word.name;
            if (name.empty()) {
                continue;
            }
            if (word.bit >= keywords_max || !is_identifier(name.data(), name.size())) {
                return false;
            }
            for (std::size_t j = 0; j < i; ++j) {
                if (traits.keywords[j].bit == word.bit || name == traits.keywords[j].name) {
                    return false;
                }
            }
        }
        return true;
    }
    static_assert(keywords_are_sound(),
                  "eventlog: a provider's keywords need a bit from 0 to 63 and a name of 1 to 63 "
                  "letters, digits and _, each its own.");

    static consteval std::uint64_t named_keywords() {
        std::uint64_t named = 0;
        for (const keyword& word : traits.keywords) {
            named |= *word.name == 0 || word.bit >= keywords_max ? 0 : std::uint64_t{word};
        }
        return named;
    }
    static_assert((all_keywords<Events...>() & ~named_keywords()) == 0,
                  "eventlog: an event has a keyword that its provider does not name. List it in "
                  "eventlog::provider_traits_of.");

    static constexpr bool passed = true;
};

}  // namespace eventlog::detail
