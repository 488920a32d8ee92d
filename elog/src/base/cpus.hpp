// SPDX-License-Identifier: MIT
//
// Reads the CPUs of the machine from /sys.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace elog {

/// Parses a list of CPUs as the kernel writes it, "0-3,8": one element per CPU up to the highest,
/// true if the CPU is in the list. A syntax error ends the list.
[[nodiscard]] std::vector<bool> parse_cpu_list(std::string_view text);

struct system_cpus {
    std::uint32_t possible = 1;  // CPU numbers are below this
    std::vector<bool> online;    // `possible` elements
};

[[nodiscard]] system_cpus read_cpus();

}  // namespace elog
