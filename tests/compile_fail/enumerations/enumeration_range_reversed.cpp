// SPDX-License-Identifier: MIT
//
// expect: the range of an eventlog::enum_info is reversed
#include <eventlog/eventlog.hpp>

enum class status { ok = 200 };
consteval auto describe(eventlog::of<status>) {
    return eventlog::enum_info{.range = {599, 100}};
}
struct answered {
    status result;
};

void emit_it() {
    eventlog::provider<"bad", answered>::emit(answered{status::ok});
}
