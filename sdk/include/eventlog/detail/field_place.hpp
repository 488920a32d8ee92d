// SPDX-License-Identifier: MIT
//
// Where the fields of an event stand in its payload: one rule for events that the compiler knows
// and for those that are defined at run time.
//
// Sorted by alignment, 8 bytes first, declared order within: then packed and naturally aligned are
// the same, there are no holes, and a struct declared in that order is copied as a whole.
#pragma once

#include <cstddef>
#include <span>

#include <eventlog/schema_format.hpp>

namespace eventlog::detail {

struct field_place {
    field_type type{};
    std::size_t count = 1;
    bool optional = false;
    std::size_t offset = 0;           // in the payload
    std::size_t presence = no_index;  // where the byte is that tells whether there is a value
};

/// A larger fixed part leaves no room in a record for the ends of texts.
inline constexpr std::size_t fixed_size_max = 0xff00;

/// Gives each field its place, behind `offset` bytes; returns the size of the fixed part.
constexpr std::size_t lay_out(std::span<field_place> places, std::size_t offset) {
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

}  // namespace eventlog::detail
