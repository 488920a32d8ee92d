// SPDX-License-Identifier: MIT
//
// language: -std=c++17
// expect: the C++ headers need C++20. Compile with -std=c++20; the C API needs C11 only.
#include <eventlog/eventlog.hpp>
