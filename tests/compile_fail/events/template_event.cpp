// SPDX-License-Identifier: MIT
//
// expect: the type of an event cannot be its name
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

template <class Number>
struct generic {
    Number number;
};

void emit_it() {
    eventlog::provider<"bad", generic<int>>::emit(generic<int>{1});
}
