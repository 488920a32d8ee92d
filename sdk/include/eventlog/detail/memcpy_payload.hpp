// SPDX-License-Identifier: MIT
//
// Structs whose bytes are their payload. They need no encoder.
#pragma once

#include <cstddef>
#include <cstdint>

#include <eventlog/detail/fields.hpp>
#include <eventlog/detail/layout.hpp>
#include <eventlog/schema_format.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

/// Whether the fields have the same bytes and order in the event and in the payload, without gaps,
/// `size` bytes in all.
constexpr bool are_contiguous(const field_kind* const* kinds, const field_location* locations,
                              std::size_t count, std::size_t size) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (!kinds[i]->has_same_bytes || locations[i].offset != end) {
            return false;
        }
        end += size_of(locations[i].type) * locations[i].count;
    }
    return end == size;
}

/// Whether an object's bytes are its payload. The size must be a multiple of a word, because an
/// emit reads whole words.
template <class Event>
inline constexpr bool is_memcpy_payload = __is_trivially_copyable(Event) &&
                                          !event_layout<Event>::session_bound &&
                                          sizeof(Event) % sizeof(std::uint64_t) == 0 &&
                                          are_contiguous(fields_of<Event>::table.kinds,
                                                         event_layout<Event>::locations,
                                                         fields_of<Event>::count, sizeof(Event));

/// Such an event is copied once, straight into the ring, if it is in memory anyway because it has a
/// field that is not passed in registers. Other events would have to be stored in memory in front
/// of the branch.
template <class Event, bool HasArrays = event_layout<Event>::array_count != 0>
inline constexpr bool is_emitted_in_place = false;
template <class Event>
inline constexpr bool is_emitted_in_place<Event, true> = is_memcpy_payload<Event>;

/// As is_emitted_in_place, for an event that is made behind the branch: also events of more than
/// one cache line. For smaller ones the encoder's alignment is faster; see encode.hpp.
template <class Event>
inline constexpr bool is_built_in_place = is_emitted_in_place<Event> ||
                                          (sizeof(Event) > 64 && is_memcpy_payload<Event>);

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
