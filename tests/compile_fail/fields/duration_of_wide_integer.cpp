// SPDX-License-Identifier: MIT
//
// expect: a field of this event has a type that is not supported
#include <chrono>

#include <eventlog/eventlog.hpp>

__extension__ using wide = __int128;
struct seen {
    std::chrono::duration<wide> took;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
