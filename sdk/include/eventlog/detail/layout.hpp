// SPDX-License-Identifier: MIT
//
// Where the fields of an event stand in its payload.
//
// Sorted by alignment, 8 bytes first, declared order within: then packed and naturally aligned are
// the same, there are no holes, and a struct declared in that order is copied as a whole.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <boost/pfr/core.hpp>
#include <boost/pfr/tuple_size.hpp>

#include <eventlog/detail/fields.hpp>
#include <eventlog/schema_format.hpp>

namespace eventlog::detail {

struct field_place {
    field_type type{};
    std::size_t offset = 0;  // in the payload
};

template <class Event, std::size_t Index>
using field_of = std::remove_cv_t<boost::pfr::tuple_element_t<Index, Event>>;

/// The place of each field, in declared order.
template <class Event, std::size_t... Index>
consteval auto places_of(std::index_sequence<Index...>) {
    // The check speaks first; type_of would fail less politely.
    (static_cast<void>(check_field<Event, Index>{}), ...);
    std::array<field_place, sizeof...(Index)> found{
        field_place{type_of<field_of<Event, Index>>()}...};
    std::size_t offset = 0;
    for (const std::size_t alignment : {8U, 4U, 2U, 1U}) {
        for (field_place& place : found) {
            if (size_of(place.type) == alignment) {
                place.offset = offset;
                offset += alignment;
            }
        }
    }
    return found;
}

template <class Event>
struct event_layout {
    static_assert(check_event<Event>::usable);

    static constexpr std::size_t field_count = boost::pfr::tuple_size_v<Event>;
    static_assert(field_count <= fields_max,
                  "eventlog: an event has more than 100 fields. Split it in two.");

    using indices = std::make_index_sequence<field_count>;

    static constexpr auto places = places_of<Event>(indices{});

    static constexpr std::size_t fixed_size = [] {
        std::size_t size = 0;
        for (const field_place& place : places) {
            size += size_of(place.type);
        }
        return size;
    }();

    static constexpr std::size_t text_count = [] {
        std::size_t count = 0;
        for (const field_place& place : places) {
            count += place.type == field_type::text ? 1U : 0U;
        }
        return count;
    }();
};

}  // namespace eventlog::detail
