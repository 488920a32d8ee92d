// SPDX-License-Identifier: MIT
//
// expect: the values of a lazily emitted event must be in a std::tuple
#include <eventlog/dynamic_provider.hpp>

void emit_it(const eventlog::dynamic_provider& provider) {
    provider.emit(0, [] { return 17; });
}
