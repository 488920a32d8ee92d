// SPDX-License-Identifier: MIT
#include <cstdint>

#include <eventlog/dynamic_session.hpp>

extern const eventlog::dynamic_provider& net;
inline constexpr std::uint32_t packet_lost = 0;
