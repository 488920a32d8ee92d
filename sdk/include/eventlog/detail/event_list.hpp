// SPDX-License-Identifier: MIT
//
// The events of a provider: the declared ones and the built-in ones that it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <eventlog/detail/checked_info.hpp>
#include <eventlog/detail/distinct.hpp>
#include <eventlog/detail/enum_names.hpp>
#include <eventlog/detail/event_schema.hpp>
#include <eventlog/metadata.hpp>
#include <eventlog/schema_format.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

struct session_begin {};
struct session_end {};
struct state_complete {};

}  // namespace detail
}  // namespace v0
}  // namespace eventlog

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<eventlog::detail::session_begin>{
    .level = eventlog::level::info,
    .description = "A session begins",
    .when = "the application opens a session",
    .kind = eventlog::kind::session_begin,
    .session_bound = true,
    .line = 0};

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<eventlog::detail::session_end>{
    .level = eventlog::level::info,
    .description = "A session ends",
    .when = "the application closes a session",
    .kind = eventlog::kind::session_end,
    .session_bound = true,
    .line = 0};

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<eventlog::detail::state_complete>{
    .level = eventlog::level::error,
    .description = "The current state is complete",
    .when = "a listener came late and all of the state has been emitted to it alone",
    .kind = eventlog::kind::state_complete,
    .line = 0};

namespace eventlog {
inline namespace v0 {
namespace detail {

template <class... Events>
struct event_list {};

template <class... First, class... Second>
event_list<First..., Second...> joined(event_list<First...>, event_list<Second...>);

// Arrays instead of fold expressions: clang limits these to 256 operands.

template <class... Events>
consteval bool any_session_bound() {
    for (const bool bound : {event_info_of<Events>.session_bound...}) {
        if (bound) {
            return true;
        }
    }
    return false;
}

template <class... Events>
consteval std::uint64_t all_keywords() {
    std::uint64_t all = 0;
    for (const std::uint64_t keywords : {event_info_of<Events>.keywords...}) {
        all |= keywords;
    }
    return all;
}

template <class Provider, class... Events>
using with_builtin_events = decltype(joined(
    joined(event_list<Events...>{},
           std::conditional_t<any_session_bound<Events...>(),
                              event_list<session_begin, session_end>, event_list<>>{}),
    std::conditional_t<provider_info_of<Provider>.replays_state, event_list<state_complete>,
                       event_list<>>{}));

// The compiler's __is_same: std::is_same would be instantiated for each pair.
template <class Event, class... Events>
consteval std::size_t index_in(event_list<Events...>) {
    constexpr bool same[] = {__is_same(Event, Events)..., true};
    std::size_t found = 0;
    while (!same[found]) {
        ++found;
    }
    return found;
}

template <class... Events>
consteval std::size_t count_in(event_list<Events...>) {
    return sizeof...(Events);
}

consteval bool keywords_are_valid(const keyword* keywords) {
    for (std::size_t i = 0; i < schema_format::keywords_max; ++i) {
        const keyword& word = keywords[i];
        const std::string_view name = word.name;
        if (name.empty()) {
            continue;
        }
        if (word.bit >= schema_format::keywords_max ||
            !eventlog::schema_format::is_identifier(name.data(), name.size())) {
            return false;
        }
        for (std::size_t j = 0; j < i; ++j) {
            if (keywords[j].bit == word.bit || name == keywords[j].name) {
                return false;
            }
        }
    }
    return true;
}

consteval std::uint64_t named_keywords(const keyword* keywords) {
    std::uint64_t named = 0;
    for (std::size_t i = 0; i < schema_format::keywords_max; ++i) {
        const keyword& word = keywords[i];
        named |=
            *word.name == 0 || word.bit >= schema_format::keywords_max ? 0 : std::uint64_t{word};
    }
    return named;
}

/// The schemas of a list of events.
template <class... Events>
[[gnu::visibility("hidden")]] inline constexpr const event_schema* event_schemas_of[] = {
    &event_schema_of<Events>...};

template <class... Events>
consteval bool names_are_distinct() {
    const std::uint64_t names[] = {hash_of(event_schema_of<Events>.name)...};
    return are_distinct(names);
}

template <class... Events>
consteval bool has_errors() {
    for (const event_error found : {event_error_in<Events>...}) {
        if (found != event_error::none) {
            return true;
        }
    }
    return false;
}

template <class... Events>
consteval bool are_valid() {
    if constexpr (has_errors<Events...>()) {
        for (const bool passed : {check_event_info<Events>::passed...}) {
            if (!passed) {
                return false;
            }
        }
    }
    return true;
}

/// Checks a provider together with its info and its events.
template <class Provider, class... Events>
struct check_provider {
    static constexpr const provider_info& info = checked_provider_info<Provider>;

    static_assert(sizeof...(Events) <= schema_format::events_max,
                  "eventlog: a provider has more than 1024 events, with session_begin, session_end "
                  "and state_complete where it needs them. Split it in two.");

    static_assert(are_valid<Events...>());
    static_assert(names_are_distinct<Events...>(),
                  "eventlog: two events of this provider have the same name. Rename one struct.");

    static_assert(std::string_view(info.description).size() <= description_length_max,
                  "eventlog: the description of this provider is longer than 255 bytes.");
    static_assert(keywords_are_valid(info.keywords),
                  "eventlog: a provider's keywords need a bit from 0 to 63 and a name of 1 to 63 "
                  "letters, digits and _, all distinct.");
    static_assert((all_keywords<Events...>() & ~named_keywords(info.keywords)) == 0,
                  "eventlog: an event has a keyword that its provider does not name. List it in "
                  "its eventlog::provider_info.");

    static constexpr bool passed = true;
};

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
