// SPDX-License-Identifier: MIT
//
// The unit of eventlog's times: nanoseconds.
#pragma once

#include <cstdint>

namespace elog {

inline constexpr std::int64_t one_second = 1'000'000'000;

}  // namespace elog
