// SPDX-License-Identifier: MIT
#include <cstdint>
#include <iostream>
#include <optional>
#include <string_view>
#include <tuple>

#include <eventlog/dynamic_provider.hpp>

extern const eventlog_definition definition;
inline constexpr std::uint32_t order_placed = 0;
inline constexpr std::uint64_t order = 17;
inline constexpr std::string_view customer = "ann";
std::uint32_t count_items();
