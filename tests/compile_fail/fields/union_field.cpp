// SPDX-License-Identifier: MIT
//
// expect: a field of this event has a type that is not supported
#include <cstdint>

#include <eventlog/eventlog.hpp>

union either {
    std::uint32_t number;
    float ratio;
};
struct seen {
    either value;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
