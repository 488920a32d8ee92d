// SPDX-License-Identifier: MIT
//
// Parses points in time that users write.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace elog {

/// How a time on the clock becomes a point in time.
struct time_reading {
    /// At the end of daylight saving time an hour occurs twice: whether the later one is meant.
    bool is_later = false;
    /// Added to the day of a time without one.
    int days = 0;
};

/// Whether the text begins like a time without a day.
[[nodiscard]] constexpr bool is_time_of_day(std::string_view text) noexcept {
    return text.size() > 2 && text[2] == ':';
}

/// "2026-11-21T14:03:07.5Z" in UTC, without the Z in local time; a blank may replace the T, and the
/// time, or its seconds, may be missing. "14:03:07.5": on the local day of `reference`, with a Z on
/// its day in UTC. A time that the zone skips is the instant of the change. Result and `reference`
/// are nanoseconds since 1970. nullopt for any other text.
[[nodiscard]] std::optional<std::int64_t> parse_time(std::string_view text, std::int64_t reference,
                                                     time_reading how = {}) noexcept;

}  // namespace elog
