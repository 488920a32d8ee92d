// SPDX-License-Identifier: MIT
//
// Points in time on the command line.
#pragma once

#include <cstdint>
#include <string_view>

#include "text/time_literal.hpp"

namespace elog {

/// The zone of a time without a zone of its own.
enum class time_zone : std::uint8_t { local, utc };

/// Whether the text is a distance from the beginning of the recording.
[[nodiscard]] constexpr bool is_distance(std::string_view text) noexcept {
    return text.starts_with('+');
}

/// Nanoseconds since 1970, from
///   14:03:07.5            time in `zone`, on the day on which the recording began
///   2026-11-21T14:03:07   time in `zone`, with T or a space between
///   @1795269787.25        seconds since 1970
///   +2.5s                 from the beginning of the recording, in the form of parse_distance
/// A time that ends in Z is of UTC in either zone. `start` is that beginning. Throws usage_error.
[[nodiscard]] std::int64_t parse_time_point(std::string_view text, std::int64_t start,
                                            time_zone zone = time_zone::local,
                                            time_reading how = {});

/// Nanoseconds from @SECONDS, the form of a clock that counts since the machine's start. `clock` is
/// its name. Throws usage_error for any other text.
[[nodiscard]] std::int64_t parse_clock_seconds(std::string_view text, std::string_view clock);

}  // namespace elog
