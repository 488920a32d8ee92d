// SPDX-License-Identifier: MIT
//
// Integers of 128 bits, which both compilers have and the standard has not.
#pragma once

namespace elog {

__extension__ using wide_integer = __int128;
__extension__ using wide_unsigned = unsigned __int128;

}  // namespace elog
