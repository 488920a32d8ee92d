// SPDX-License-Identifier: MIT
//
// The values of an enumeration without a fixed type may not be tried.
//
// expect: needs an enumeration whose type is fixed
#include <eventlog/eventlog.hpp>

enum status { ok = 200 };
consteval auto describe(eventlog::of<status>) {
    return eventlog::enum_info{.range = {100, 599}};
}
struct answered {
    status result;
};

void emit_it() {
    eventlog::provider<"bad", answered>::emit(answered{ok});
}
