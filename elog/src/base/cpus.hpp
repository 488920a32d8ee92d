// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace elog {

/// Reads a list as the kernel writes it, "0-3,8": one element per CPU up to the highest, true if it
/// is in the list. What it does not understand ends the list.
[[nodiscard]] std::vector<bool> parse_cpu_list(std::string_view text);

struct system_cpus {
    std::uint32_t possible = 1;  // CPU numbers are below this
    std::vector<bool> online;    // as long
};

[[nodiscard]] system_cpus read_cpus();

}  // namespace elog
