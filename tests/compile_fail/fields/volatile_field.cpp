// SPDX-License-Identifier: MIT
//
// expect: is a bit-field or a reference, or volatile or packed
#include <eventlog/eventlog.hpp>

struct seen {
    volatile int number;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
