// SPDX-License-Identifier: MIT
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct loss {
    std::uint64_t sequence;
    std::uint32_t bytes;
};
inline constexpr std::uint64_t retransmit = 1;
using tcp = eventlog::provider<"tcp", loss>;
