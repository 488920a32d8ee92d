// SPDX-License-Identifier: MIT
//
// From a schema that somebody has put together to its binary form: what the compiler does for
// providers in C++ (schema_writer.hpp), at run time.
#pragma once

#include <cstddef>

#include "schema/provider_schema.hpp"

namespace elog {

/// More than a record can hold, less a little: as for events in C++.
inline constexpr std::size_t fixed_size_max = 0xff00;

/// Gives each field its place, by the rule of all producers: 8 bytes first, then 4, 2, 1, declared
/// order within, then the presence bytes. A field whose `presence` is not no_index gets one.
/// Returns the size of the fixed part; if that is over fixed_size_max the event is left as it was.
[[nodiscard]] std::size_t assign_offsets(event_schema& event);

/// Writes `binary` and `hash` from everything else, which must be sound. Throws failure if that
/// takes more than a schema may have.
void write_binary(provider_schema& schema);

}  // namespace elog
