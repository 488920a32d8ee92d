// SPDX-License-Identifier: MIT
//
// expect: a field of this event has a type that is not supported
// expect: has_callback
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct has_callback {
    std::uint32_t number;
    void (*callback)();
};

void emit_it() {
    eventlog::provider<"bad", has_callback>::emit(has_callback{});
}
