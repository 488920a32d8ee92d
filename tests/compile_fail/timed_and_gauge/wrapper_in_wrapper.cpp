// SPDX-License-Identifier: MIT
//
// A timed event contains a gauge.
#include <cstdint>

#include <eventlog/eventlog.hpp>

// expect: eventlog: an eventlog::timed or eventlog::gauge contains another one. Write the event's struct in it.
struct baking {
    std::uint32_t loaves;
};
using bakery = eventlog::provider<"bakery", eventlog::timed<eventlog::gauge<baking>>>;

void bake() {
    bakery::emit(eventlog::timed<eventlog::gauge<baking>>{});
}
