// SPDX-License-Identifier: MIT
//
// Points in time on the command line.
#pragma once

#include <cstdint>
#include <string_view>

namespace elog {

/// Nanoseconds since 1970, from
///   14:03:07.5            local time, on the day on which the recording began
///   2026-11-21T14:03:07   local time, with T or a space between
///   @1795269787.25        seconds since 1970
///   +2.5s                 from the beginning of the recording, in the form of parse_distance
/// `start` is that beginning. Throws usage_error.
[[nodiscard]] std::int64_t parse_time_point(std::string_view text, std::int64_t start);

}  // namespace elog
