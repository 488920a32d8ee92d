// SPDX-License-Identifier: MIT
//
// expect: is a bit-field or a reference
// expect-pfr: cannot bind bit-field
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct header {
    std::uint8_t version : 4;
    std::uint8_t size : 4;
};
struct seen {
    header first;
    std::uint32_t rest;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
