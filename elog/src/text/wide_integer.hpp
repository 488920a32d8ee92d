// SPDX-License-Identifier: MIT
//
// Names the 128-bit integers of GCC and Clang, which the standard does not have.
#pragma once

namespace elog {

__extension__ using wide_integer = __int128;
__extension__ using wide_unsigned = unsigned __int128;

/// Division that rounds down; `/` rounds towards zero.
constexpr wide_integer floor_div(wide_integer value, wide_integer divisor) noexcept {
    return value / divisor - (value % divisor < 0 ? 1 : 0);
}

}  // namespace elog
