// SPDX-License-Identifier: MIT
//
// expect: a value of this type cannot be emitted
#include <eventlog/dynamic_provider.hpp>

void emit_it(const eventlog::dynamic_provider& provider, const int* numbers) {
    provider.emit(0, numbers);
}
