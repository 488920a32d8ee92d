// SPDX-License-Identifier: MIT
//
// The locations of an event's fields in its payload: one rule for events known at compile time and
// at run time.
//
// Fields are sorted by alignment, 8 bytes first, in declared order within a group. So there are no
// holes, all fields are naturally aligned, and a struct that is declared in that order is copied as
// a whole.
#pragma once

#include <cstddef>

#include <eventlog/schema_format.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

struct field_location {
    field_type type{};
    std::size_t count = 1;  // 0: a sequence
    bool optional = false;
    std::size_t offset = 0;  // in the payload
    /// The offset of the byte that marks a value as present.
    std::size_t presence = schema_format::no_index;
    bool takes_room = true;  // in the fixed part
};

constexpr std::size_t alignment_of(const field_location& place) {
    return place.count == 0 ? sizeof(std::uint32_t) : size_of(place.type);
}

constexpr std::size_t room_of(const field_location& place) {
    return place.takes_room ? fixed_size_of(place.type, place.count) : 0;
}

/// Limits the fixed part, which must leave room in a record for texts.
inline constexpr std::size_t fixed_size_max = 0xff00;

/// Assigns the locations of `count` fields, beginning at `offset`. Returns the size of the fixed
/// part.
constexpr std::size_t lay_out(field_location* locations, std::size_t count, std::size_t offset) {
    // Indexed by alignment: first the number of bytes, then the offset of the next field.
    std::size_t next[9]{};
    for (std::size_t i = 0; i < count; ++i) {
        next[alignment_of(locations[i])] += room_of(locations[i]);
    }
    for (std::size_t alignment = 8; alignment != 0; alignment /= 2) {
        const std::size_t size = next[alignment];
        next[alignment] = offset;
        offset += size;
    }
    for (std::size_t i = 0; i < count; ++i) {
        field_location& place = locations[i];
        std::size_t& next_offset = next[alignment_of(place)];
        place.offset = next_offset;
        next_offset += room_of(place);
        if (place.optional) {
            place.presence = offset++;
        }
    }
    return offset;
}

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
