// SPDX-License-Identifier: MIT
//
// The output of `elog top --json`.
#pragma once

#include <cstdint>
#include <string>

#include "record/recording_summary.hpp"
#include "top/top_statistics.hpp"

namespace elog {

/// The line that `elog top --json` writes at the end of an interval: a JSON object specified in
/// elog-top(1). `time` is the current time in nanoseconds since 1970.
[[nodiscard]] std::string format_top_json(const top_statistics& counted, std::int64_t time,
                                          const recording_summary& so_far);

}  // namespace elog
