// SPDX-License-Identifier: MIT
//
// expect: is a bit-field or a reference, or volatile or packed
// expect-pfr: cannot bind packed field
#include <eventlog/eventlog.hpp>

struct [[gnu::packed]] seen {
    char letter;
    int number;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
