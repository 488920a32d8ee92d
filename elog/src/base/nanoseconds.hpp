// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace elog {

inline constexpr std::int64_t one_second =
    1'000'000'000;  // of eventlog's times, which are nanoseconds

}  // namespace elog
