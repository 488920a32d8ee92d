// SPDX-License-Identifier: MIT
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

extern const std::string_view sql;
extern const std::uint32_t rows;
std::uint32_t run(std::string_view sql);
