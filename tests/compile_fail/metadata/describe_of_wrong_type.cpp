// SPDX-License-Identifier: MIT
//
// expect: describe() returns the wrong type
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct lost {
    std::uint32_t bytes;
};
using tcp = eventlog::provider<"tcp", lost>;

consteval auto describe(eventlog::of<tcp>) {
    return eventlog::event_info{};
}

void emit_it() {
    tcp::emit(lost{});
}
