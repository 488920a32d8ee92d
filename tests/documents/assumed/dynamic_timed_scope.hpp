// SPDX-License-Identifier: MIT
#include <cstdint>
#include <string_view>
#include <tuple>

#include <eventlog/dynamic_provider.hpp>

extern const eventlog::dynamic_provider& database;
inline constexpr std::uint32_t query = 0;
inline constexpr std::uint32_t statement = 1;
inline constexpr std::string_view sql = "select";
inline constexpr std::uint32_t rows = 7;
std::uint32_t run_query();
