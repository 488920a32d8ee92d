// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

inline constexpr std::uint64_t retransmit = 1;
extern const std::string_view sql;
std::uint32_t run(std::string_view sql);
using simulation_clock = std::chrono::steady_clock;
