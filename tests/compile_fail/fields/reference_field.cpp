// SPDX-License-Identifier: MIT
//
// expect: is a bit-field or a reference
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct seen {
    std::uint32_t number;
    const std::uint32_t& other;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
