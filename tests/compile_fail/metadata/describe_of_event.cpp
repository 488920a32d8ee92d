// SPDX-License-Identifier: MIT
//
// An event has a function describe(), as providers and enumerations have.
#include <cstdint>

#include <eventlog/eventlog.hpp>

// expect: eventlog: an event has a function describe(), which is for providers and enumerations. Give the event a static constexpr eventlog::event_info info.
struct sold {
    std::uint32_t loaves;
};
consteval auto describe(eventlog::of<sold>) {
    return eventlog::event_info{.description = "Bread is sold"};
}
using bakery = eventlog::provider<"bakery", sold>;

void sell() {
    bakery::emit(sold{3});
}
