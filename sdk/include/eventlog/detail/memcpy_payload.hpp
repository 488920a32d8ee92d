// SPDX-License-Identifier: MIT
//
// Structs that are their payload, byte for byte: these need no encoder.
#pragma once

#include <cstddef>
#include <cstdint>

#include <eventlog/detail/fields.hpp>
#include <eventlog/detail/layout.hpp>
#include <eventlog/schema_format.hpp>

namespace eventlog::detail {

/// Whether the fields are carried as they are, one behind the other without a gap, in the order in
/// which they are declared, `size` bytes in all.
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

/// Whether an object is its payload. Whole words, because an emit reads whole ones.
template <class Event>
inline constexpr bool is_memcpy_payload = __is_trivially_copyable(Event) &&
                                          !event_layout<Event>::session_bound &&
                                          sizeof(Event) % sizeof(std::uint64_t) == 0 &&
                                          are_contiguous(fields_of<Event>::table.kinds,
                                                         event_layout<Event>::locations,
                                                         fields_of<Event>::count, sizeof(Event));

/// Such an event is emitted from where it is, and copied once, into the ring, if it is in memory
/// anyhow, because it has a field that is not passed in registers. (Others would have to be put
/// into memory in front of the branch.)
template <class Event, bool HasArrays = event_layout<Event>::array_count != 0>
inline constexpr bool is_emitted_in_place = false;
template <class Event>
inline constexpr bool is_emitted_in_place<Event, true> = is_memcpy_payload<Event>;

/// The same for one that is made behind the branch, if it is too large to lie on one line of the
/// cache; a smaller one is better put there, see encode.hpp.
template <class Event>
inline constexpr bool is_built_in_place = is_emitted_in_place<Event> ||
                                          (sizeof(Event) > 64 && is_memcpy_payload<Event>);

}  // namespace eventlog::detail
