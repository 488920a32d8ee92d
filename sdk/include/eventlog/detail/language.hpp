// SPDX-License-Identifier: MIT
//
// States the language that the C++ headers need, before they cause errors of which nothing says so.
// The flags of pkg-config have no -std: C programs include <eventlog/eventlog.h>.
#pragma once

#if __cplusplus < 202002L
#error "eventlog: the C++ headers need C++20. Compile with -std=c++20; the C API needs C11 only."
#endif
