// SPDX-License-Identifier: MIT
//
// expect: is a bit-field or a reference
// expect-pfr: cannot bind bit-field
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct seen {
    std::uint32_t flags : 3;
    std::uint32_t rest;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
