// SPDX-License-Identifier: MIT
//
// expect: a value of this type cannot be emitted
#include <array>

#include <eventlog/dynamic_provider.hpp>

void emit_it(const eventlog::dynamic_provider& provider, const std::array<void*, 2>& pointers) {
    provider.emit(0, pointers);
}
