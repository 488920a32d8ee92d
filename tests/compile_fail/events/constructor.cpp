// SPDX-License-Identifier: MIT
//
// expect: an event must be a plain struct
// expect: has_constructor
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct has_constructor {
    explicit has_constructor(int from) : number(from) {}
    std::int32_t number;
};

void emit_it() {
    eventlog::provider<"bad", has_constructor>::emit(has_constructor{1});
}
