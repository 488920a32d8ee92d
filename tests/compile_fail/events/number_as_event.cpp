// SPDX-License-Identifier: MIT
//
// expect: an event must be a plain struct
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

void emit_it() {
    eventlog::provider<"bad", int>::emit(1);
}
