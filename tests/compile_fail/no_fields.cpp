// SPDX-License-Identifier: MIT
//
// expect: an event must have at least one field
// expect: has_nothing
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct has_nothing {};

void emit_it() {
    eventlog::provider<"bad", has_nothing>::emit(has_nothing{});
}
