// SPDX-License-Identifier: MIT
//
// Where the fields of an event stand in its payload: one rule for events that the compiler knows
// and for those that are defined at run time.
//
// Sorted by alignment, 8 bytes first, declared order within: then packed and naturally aligned are
// the same, there are no holes, and a struct declared in that order is copied as a whole.
#pragma once

#include <cstddef>

#include <eventlog/schema_format.hpp>

namespace eventlog::detail {

struct field_location {
    field_type type{};
    std::size_t count = 1;
    bool optional = false;
    std::size_t offset = 0;           // in the payload
    std::size_t presence = no_index;  // where the byte is that tells whether there is a value
};

/// A larger fixed part leaves no room in a record for the ends of texts.
inline constexpr std::size_t fixed_size_max = 0xff00;

/// Gives each of `count` fields its place, behind `offset` bytes; returns the size of the fixed
/// part.
constexpr std::size_t lay_out(field_location* locations, std::size_t count, std::size_t offset) {
    // By alignment: first how many bytes, then where the next field goes.
    std::size_t next[9]{};
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t alignment = size_of(locations[i].type);
        next[alignment] += alignment * locations[i].count;
    }
    for (std::size_t alignment = 8; alignment != 0; alignment /= 2) {
        const std::size_t size = next[alignment];
        next[alignment] = offset;
        offset += size;
    }
    for (std::size_t i = 0; i < count; ++i) {
        field_location& place = locations[i];
        const std::size_t alignment = size_of(place.type);
        place.offset = next[alignment];
        next[alignment] += alignment * place.count;
        if (place.optional) {
            place.presence = offset++;
        }
    }
    return offset;
}

}  // namespace eventlog::detail
