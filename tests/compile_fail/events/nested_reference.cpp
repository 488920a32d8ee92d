// SPDX-License-Identifier: MIT
//
// expect: a field of this event is a reference, or its type has no default constructor
// expect-pfr: is a bit-field or a reference
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct endpoint {
    std::uint16_t& port;
};
struct seen {
    endpoint from;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
