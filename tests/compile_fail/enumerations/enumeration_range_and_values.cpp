// SPDX-License-Identifier: MIT
//
// expect: has both .values and .range
#include <eventlog/eventlog.hpp>

enum class status { ok = 200, not_found = 404 };
consteval auto describe(eventlog::of<status>) {
    return eventlog::enum_info{.values = {{200, "fine"}}, .range = {100, 599}};
}
struct answered {
    status result;
};

void emit_it() {
    eventlog::provider<"bad", answered>::emit(answered{status::ok});
}
