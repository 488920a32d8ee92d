// SPDX-License-Identifier: MIT
//
// Durations and sizes on the command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace elog {

/// "10", "10s", "0.5s", "500ms", "2m", "1h"; at least a nanosecond. Throws usage_error.
[[nodiscard]] std::chrono::nanoseconds parse_duration(std::string_view text);

/// The same, and also 0.
[[nodiscard]] std::chrono::nanoseconds parse_distance(std::string_view text);

/// "65536", "64K", "64KiB", "1M", "1MiB", "1G". Throws usage_error.
[[nodiscard]] std::uint64_t parse_size(std::string_view text);

}  // namespace elog
