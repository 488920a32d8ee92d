// SPDX-License-Identifier: MIT
//
// expect: emit is a macro, as in Qt
#define emit

#include <eventlog/eventlog.hpp>

struct seen {
    int number;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
