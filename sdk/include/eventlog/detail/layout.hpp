// SPDX-License-Identifier: MIT
//
// Where the fields of a struct stand in its payload, by the rule of field_place.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <eventlog/detail/field_place.hpp>
#include <eventlog/detail/leaves.hpp>
#include <eventlog/schema_format.hpp>
#include <eventlog/traits.hpp>

namespace eventlog::detail {

template <class Field>
consteval field_place place_of() {
    using inner = inner_of<Field>;
    using single = typename element<inner>::type;
    return {type_of<single>(), element<inner>::count, !std::is_same_v<inner, Field>, 0, no_index};
}

template <class Event>
struct [[gnu::visibility("hidden")]] event_layout {
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
    static_assert(fixed_size <= fixed_size_max,
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
