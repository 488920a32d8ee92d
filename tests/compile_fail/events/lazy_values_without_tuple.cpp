// SPDX-License-Identifier: MIT
//
// expect: a callable must return the values of the event in a std::tuple
#include <eventlog/dynamic_provider.hpp>

void emit_it(const eventlog::dynamic_provider& provider) {
    provider.emit(0, [] { return 17; });
}
