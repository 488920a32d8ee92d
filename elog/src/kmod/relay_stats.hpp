// SPDX-License-Identifier: MIT
//
// What the file `stats` of a relay channel says, see eventlog_relay(4).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace elog {

/// Of a CPU's buffer, since it has been made.
struct relay_counts {
    bool is_there = false;  // a CPU that has not lived yet has none
    std::uint64_t recorded = 0;
    std::uint64_t lost = 0;
};

struct relay_stats {
    std::vector<relay_counts> cpus{};
};

/// Throws failure for what it cannot be on a machine of so many CPUs.
[[nodiscard]] relay_stats parse_relay_stats(std::string_view text, std::uint32_t cpu_count);

}  // namespace elog
