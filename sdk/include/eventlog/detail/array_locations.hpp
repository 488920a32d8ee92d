// SPDX-License-Identifier: MIT
//
// Puts arrays that are passed by address into the fixed part of a payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <eventlog/detail/layout.hpp>
#include <eventlog/schema_format.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

/// Moves `size` bytes from the words, which are the payload without its arrays, to their offset in
/// the payload.
struct moved_bytes {
    std::uint16_t from = 0;
    std::uint16_t offset = 0;
    std::uint16_t size = 0;
};

struct array_location {
    std::uint16_t offset = 0;
    void (*put)(unsigned char* target, const void* field) = nullptr;
};

/// The locations of an event's fields if it has arrays that are passed by address.
template <std::size_t Arrays, std::size_t Moves>
struct array_locations {
    moved_bytes moves[Moves]{};
    array_location arrays_by_address[at_least_one(Arrays)]{};
    std::size_t move_count = 0;
    std::size_t array_count = Arrays;
};

template <class Event>
consteval auto make_array_locations() {
    using layout = event_layout<Event>;
    using fields = fields_of<Event>;
    array_locations<layout::array_count, 2 * fields::count + 1> made;
    const auto move = [&](std::size_t from, std::size_t to, std::size_t size) {
        made.moves[made.move_count++] = {static_cast<std::uint16_t>(from),
                                         static_cast<std::uint16_t>(to),
                                         static_cast<std::uint16_t>(size)};
    };
    if (layout::session_bound) {
        move(0, 0, sizeof(std::uint64_t));
    }
    for (std::size_t i = 0; i < fields::count; ++i) {
        const field_kind& kind = *fields::table.kinds[i];
        const field_location& place = layout::locations[i];
        const field_location& in_words = layout::in_words.locations[i];
        if (kind.mode == pass_mode::array_by_address) {
            made.arrays_by_address[order_in(layout::in_words.packed[i])] = {
                static_cast<std::uint16_t>(place.offset), kind.put};
        } else {
            move(in_words.offset, place.offset, fixed_size_of(place.type, place.count));
        }
        if (kind.optional) {
            move(in_words.presence, place.presence, 1);
        }
    }
    return made;
}

template <class Event>
[[gnu::visibility("hidden")]] inline constexpr auto array_locations_of =
    make_array_locations<Event>();

/// Assembles the fixed part from words and arrays. `size` includes the padding of its last word.
template <class Places>
inline void put_arrays(unsigned char* target, std::size_t size, const Places& locations,
                       const std::uint64_t* words, const void* const* arrays_by_address) noexcept {
    std::memset(target, 0, size);
    for (std::size_t i = 0; i < locations.move_count; ++i) {
        const moved_bytes& move = locations.moves[i];
        std::memcpy(target + move.offset, reinterpret_cast<const unsigned char*>(words) + move.from,
                    move.size);
    }
    for (std::size_t i = 0; i < locations.array_count; ++i) {
        locations.arrays_by_address[i].put(target + locations.arrays_by_address[i].offset,
                                           arrays_by_address[i]);
    }
}

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
