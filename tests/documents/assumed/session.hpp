// SPDX-License-Identifier: MIT
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct loss {
    std::uint64_t sequence;
    std::uint32_t bytes;
    std::string_view why;
};
using tcp = eventlog::provider<"tcp", loss>;
extern const std::uint64_t socket_cookie;
std::uint64_t next_sequence();
