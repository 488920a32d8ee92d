// SPDX-License-Identifier: MIT
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

extern const std::uint64_t socket_cookie;
std::uint64_t next_sequence();
