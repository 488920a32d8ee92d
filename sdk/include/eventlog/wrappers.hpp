// SPDX-License-Identifier: MIT
//
// eventlog::timed and eventlog::gauge: entries of a provider's list that give an event a role.
//
//     struct baking { std::uint32_t loaves; };
//     struct stock { std::int64_t loaves; };
//     using bakery = eventlog::provider<"bakery", eventlog::timed<baking>, eventlog::gauge<stock>>;
//
// The entry has the name and the metadata of its event; the wrapper implies the kind.
#pragma once

#include <cstdint>
#include <type_traits>

#include <eventlog/metadata.hpp>

namespace eventlog {
inline namespace v0 {

/// An event with a duration, which is its first field. provider::time() emits it at the end of a
/// scope; an object of this type can be emitted like any event.
template <class Event>
struct timed {
    std::int64_t duration = 0;  // nanoseconds
    Event event{};
};

template <class Event>
requires std::is_empty_v<Event>
struct timed<Event> {
    std::int64_t duration = 0;  // nanoseconds
};

/// An event whose numbers are new values of a quantity. provider::gauge<Event> emits it whenever
/// its number changes; an Event can be emitted like any other.
template <class Event>
struct gauge {
    Event event{};
};

namespace detail {

/// The event of an entry of a provider's list.
template <class Entry>
struct unwrapped {
    using type = Entry;
    static constexpr bool is_wrapper = false;
};
template <class Event>
struct unwrapped<timed<Event>> {
    using type = Event;
    static constexpr bool is_wrapper = true;
};
template <class Event>
struct unwrapped<gauge<Event>> {
    using type = Event;
    static constexpr bool is_wrapper = true;
};

template <class Event>
[[gnu::always_inline]] constexpr timed<Event> make_timed(std::int64_t duration,
                                                         const Event& event) {
    if constexpr (std::is_empty_v<Event>) {
        return {duration};
    } else {
        return {duration, event};
    }
}

constexpr event_info gauge_info(event_info info) {
    info.kind = kind::gauge;
    return info;
}

constexpr event_info timed_info(event_info info) {
    info.kind = kind::end;
    for (field_info& field : info.fields) {
        if (*field.member == 0) {
            field = {.member = "duration", .format = format::duration};
            break;
        }
    }
    return info;
}

}  // namespace detail

template <class Event>
[[gnu::visibility("hidden")]] inline constexpr event_info event_info_of<timed<Event>> =
    detail::timed_info(event_info_of<Event>);

template <class Event>
[[gnu::visibility("hidden")]] inline constexpr event_info event_info_of<gauge<Event>> =
    detail::gauge_info(event_info_of<Event>);

}  // namespace v0
}  // namespace eventlog
