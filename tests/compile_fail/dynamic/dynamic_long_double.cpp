// SPDX-License-Identifier: MIT
//
// expect: a long double is wider than any field
#include <eventlog/dynamic_provider.hpp>

void emit_it(const eventlog::dynamic_provider& provider) {
    provider.emit(0, 1.0L);
}
