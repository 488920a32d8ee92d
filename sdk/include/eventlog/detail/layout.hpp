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

#include <eventlog/detail/leaves.hpp>
#include <eventlog/schema_format.hpp>
#include <eventlog/traits.hpp>

namespace eventlog::detail {

struct field_place {
    field_type type{};
    std::size_t count = 1;
    bool optional = false;
    std::size_t offset = 0;           // in the payload
    std::size_t presence = no_index;  // where the byte is that tells whether there is a value
};

template <class Field>
consteval field_place place_of() {
    using inner = inner_of<Field>;
    using single = typename element<inner>::type;
    return {type_of<single>(), element<inner>::count, !std::is_same_v<inner, Field>, 0, no_index};
}

/// Gives each field its place; returns the size of the fixed part.
template <std::size_t Count>
constexpr std::size_t lay_out(std::array<field_place, Count>& places, std::size_t offset) {
    for (const std::size_t alignment : {8U, 4U, 2U, 1U}) {
        for (field_place& place : places) {
            if (size_of(place.type) == alignment) {
                place.offset = offset;
                offset += alignment * place.count;
            }
        }
    }
    for (field_place& place : places) {
        if (place.optional) {
            place.presence = offset++;
        }
    }
    return offset;
}

template <class Event>
struct event_layout {
    static_assert(check_event<Event>::usable);

    static constexpr bool session_bound = traits_of<Event>.session_bound;
    static constexpr std::size_t field_count = first_leaves<Event>.back();
    static_assert(field_count + (session_bound ? 1 : 0) <= fields_max,
                  "eventlog: an event has more than 100 fields. Split it in two.");

    using indices = std::make_index_sequence<field_count>;

  private:
    struct laid_out {
        std::array<field_place, field_count> places{};
        std::size_t size = 0;
    };
    static constexpr laid_out all = []<std::size_t... Leaf>(std::index_sequence<Leaf...>) {
        laid_out made{{place_of<leaf_of<Event, Leaf>>()...}, 0};
        made.size = lay_out(made.places, session_bound ? sizeof(std::uint64_t) : 0);
        return made;
    }
    (indices{});

  public:
    /// In declared order.
    static constexpr const std::array<field_place, field_count>& places = all.places;
    static constexpr std::size_t fixed_size = all.size;
    static_assert(fixed_size <= 0xff00,
                  "eventlog: an event's fields take more than a record can hold (64 KiB). Use "
                  "smaller arrays, or a span.");

    /// Texts and byte strings.
    static constexpr std::size_t piece_count = [] {
        std::size_t count = 0;
        for (const field_place& place : places) {
            count += place.type == field_type::text || place.type == field_type::bytes ? 1U : 0U;
        }
        return count;
    }();
};

}  // namespace eventlog::detail
