// SPDX-License-Identifier: MIT
//
// expect: a field of this event has a type that cannot be carried
// expect: has_pointer
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct has_pointer {
    std::uint32_t number;
    void* address;
};

void emit_it() {
    eventlog::provider<"bad", has_pointer>::emit(has_pointer{});
}
