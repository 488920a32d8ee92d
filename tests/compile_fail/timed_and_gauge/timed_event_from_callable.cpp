// SPDX-License-Identifier: MIT
//
// A callable returns the event of a timed event, which has no duration.
#include <cstdint>

#include <eventlog/eventlog.hpp>

// expect: eventlog: this event is timed. Emit it with time(), which measures a scope, or emit an eventlog::timed<...> object with its duration.
struct baking {
    std::uint32_t loaves;
};
using bakery = eventlog::provider<"bakery", eventlog::timed<baking>>;

void bake() {
    bakery::emit([] { return baking{1}; });
}
