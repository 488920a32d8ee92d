// SPDX-License-Identifier: MIT
//
// Sums of counts that stop at the largest value: counts from a file or region are untrusted.
#pragma once

#include <cstdint>

namespace elog {

/// Adds without wrapping around.
constexpr void add_saturating(std::uint64_t& count, std::uint64_t added) noexcept {
    if (__builtin_add_overflow(count, added, &count)) {
        count = UINT64_MAX;
    }
}

template <class... Counts>
[[nodiscard]] constexpr std::uint64_t saturating_sum(Counts... added) noexcept {
    std::uint64_t sum = 0;
    (add_saturating(sum, added), ...);
    return sum;
}

}  // namespace elog
