// SPDX-License-Identifier: MIT
//
// Integers of 128 bits, which both compilers have and the standard has not.
#pragma once

namespace elog {

__extension__ using wide_integer = __int128;
__extension__ using wide_unsigned = unsigned __int128;

/// Rounds down, also below zero, where / rounds up.
constexpr wide_integer floor_div(wide_integer value, wide_integer divisor) noexcept {
    return value / divisor - (value % divisor < 0 ? 1 : 0);
}

}  // namespace elog
