// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "top/top_statistics.hpp"

namespace elog {

/// What elog top --json writes at the end of an interval: a line with a JSON object, whose members
/// elog-top(1) names. `time` is the present in nanoseconds since 1970, `refused` are providers that
/// found no room.
[[nodiscard]] std::string format_top_json(const top_statistics& counted, std::int64_t time,
                                          std::uint32_t refused);

}  // namespace elog
