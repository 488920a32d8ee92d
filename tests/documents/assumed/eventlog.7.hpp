// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct loss {
    std::uint32_t bytes;
};
inline constexpr std::uint64_t retransmit = 1;
using simulation_clock = std::chrono::steady_clock;
