// SPDX-License-Identifier: MIT
//
// Parser for the file `stats` of a relay channel, see eventlog_relay(4).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace elog {

/// Counts of a CPU's buffer since it was created.
struct relay_counts {
    bool is_there = false;  // false: the CPU has not been online yet
    std::uint64_t recorded = 0;
    std::uint64_t lost = 0;
};

struct relay_stats {
    std::vector<relay_counts> cpus{};
};

/// Throws user_error for text that is not valid on a machine with that many CPUs.
[[nodiscard]] relay_stats parse_relay_stats(std::string_view text, std::uint32_t cpu_count);

}  // namespace elog
