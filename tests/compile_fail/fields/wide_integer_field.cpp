// SPDX-License-Identifier: MIT
//
// expect: a field of this event has a type that is not supported

#include <eventlog/eventlog.hpp>

struct seen {
    __int128 number;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
