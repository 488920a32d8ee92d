// SPDX-License-Identifier: MIT
//
// Writes the binary form of a schema at run time, as schema_writer.hpp does at compile time for
// providers in C++.
#pragma once

#include <cstddef>

#include "schema/provider_schema.hpp"

namespace elog {

/// Limit of the fixed part: what a record holds, less some room, as for events in C++.
inline constexpr std::size_t fixed_size_max = 0xff00;

/// Assigns the fields' offsets by the rule of all producers: fields of 8 bytes first, then of 4, 2
/// and 1, each in declared order, then a presence byte for each field whose `presence` is not
/// schema_format::no_index. Returns the size of the fixed part; above fixed_size_max the event is
/// unchanged.
[[nodiscard]] std::size_t assign_offsets(event_schema& event);

/// Writes `binary` and `hash` from the other members, which must be valid. Throws user_error if the
/// binary form is larger than a schema may be.
void write_binary(provider_schema& schema);

/// Removes the lines that declare the provider and its events, and writes the binary form again.
void remove_sources(provider_schema& schema);

}  // namespace elog
