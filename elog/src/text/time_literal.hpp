// SPDX-License-Identifier: MIT
//
// Parses points in time that users write.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace elog {

/// "2026-11-21T14:03:07.5Z" in UTC, without the Z in local time; a blank may replace the T, and the
/// time, or its seconds, may be missing. "14:03:07.5": on the local day of `reference`, with a Z on
/// its day in UTC. Result and `reference` are nanoseconds since 1970. nullopt for any other text.
[[nodiscard]] std::optional<std::int64_t> parse_time(std::string_view text,
                                                     std::int64_t reference) noexcept;

}  // namespace elog
