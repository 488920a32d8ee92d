// SPDX-License-Identifier: MIT
//
// expect: a field is a container that is not supported
#include <cstdint>
#include <span>

#include <eventlog/eventlog.hpp>

struct seen {
    std::span<volatile std::uint8_t> registers;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
