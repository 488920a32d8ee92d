// SPDX-License-Identifier: MIT
#include <array>
#include <cstdint>

#include <eventlog/eventlog.hpp>

inline constexpr std::uint64_t retransmit = 1;

namespace my {
class uuid;
}
