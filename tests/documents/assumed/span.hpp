// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

extern const std::string_view sql;
std::uint32_t run(std::string_view sql);
