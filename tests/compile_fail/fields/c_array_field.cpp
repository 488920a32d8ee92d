// SPDX-License-Identifier: MIT
//
// expect: an event has a C array as field
// expect: has_array
// expect-pfr: names provided for structured binding
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct has_array {
    std::uint32_t number;
    unsigned char bytes[16];
    std::uint32_t other;
};

void emit_it() {
    eventlog::provider<"bad", has_array>::emit(has_array{});
}
