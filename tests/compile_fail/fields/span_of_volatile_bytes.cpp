// SPDX-License-Identifier: MIT
//
// expect: a field of this event has a type that is not supported
#include <cstdint>
#include <span>

#include <eventlog/eventlog.hpp>

struct seen {
    std::span<volatile std::uint8_t> registers;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
