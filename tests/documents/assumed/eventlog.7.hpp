// SPDX-License-Identifier: MIT
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct loss {
    std::uint32_t bytes;
};
inline constexpr std::uint64_t retransmit = 1;
