// SPDX-License-Identifier: MIT
#include <cstdint>

#include <eventlog/eventlog.hpp>

inline constexpr std::uint64_t retransmit = 1;
