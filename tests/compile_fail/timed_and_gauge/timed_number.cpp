// SPDX-License-Identifier: MIT
//
// A number is timed, which is not an event.
#include <cstdint>

#include <eventlog/eventlog.hpp>

// expect: eventlog: an event must be a plain struct: no constructors, no private members, no virtual functions. Make it an aggregate.
using bakery = eventlog::provider<"bakery", eventlog::timed<std::uint32_t>>;

void bake() {
    bakery::emit(eventlog::timed<std::uint32_t>{});
}
