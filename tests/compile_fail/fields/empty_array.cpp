// SPDX-License-Identifier: MIT
//
// expect: a field is a std::array that is not supported
#include <array>

#include <eventlog/eventlog.hpp>

struct seen {
    std::array<int, 0> numbers;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
