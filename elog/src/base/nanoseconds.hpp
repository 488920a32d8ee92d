// SPDX-License-Identifier: MIT
//
// The unit of eventlog's times: nanoseconds.
#pragma once

#include <cstdint>

namespace elog {

inline constexpr std::int64_t one_second = 1'000'000'000;

// Both round down, so that the part behind the second is not negative for times before 1970. They
// do not overflow: times of a damaged file may have any value.
constexpr std::int64_t whole_seconds(std::int64_t nanoseconds) noexcept {
    return nanoseconds / one_second - (nanoseconds % one_second < 0 ? 1 : 0);
}
constexpr std::int64_t rest_of_second(std::int64_t nanoseconds) noexcept {
    const std::int64_t rest = nanoseconds % one_second;
    return rest < 0 ? rest + one_second : rest;
}

}  // namespace elog
