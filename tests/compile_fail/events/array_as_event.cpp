// SPDX-License-Identifier: MIT
//
// expect: a std::array is not an event
#include <array>

#include <eventlog/eventlog.hpp>

void emit_it() {
    eventlog::provider<"bad", std::array<int, 3>>::emit(std::array<int, 3>{1, 2, 3});
}
