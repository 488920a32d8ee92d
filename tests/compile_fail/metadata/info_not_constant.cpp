// SPDX-License-Identifier: MIT
//
// The metadata of an event is a variable, and would be ignored.
#include <cstdint>

#include <eventlog/eventlog.hpp>

// expect: eventlog: the static member info of an event is not its metadata. Declare it as static constexpr eventlog::event_info, or rename it.
struct baking {
    static inline eventlog::event_info info{.description = "Bread is baked"};
    std::uint32_t loaves;
};
using bakery = eventlog::provider<"bakery", eventlog::timed<baking>>;

void bake() {
    const auto scope = bakery::time(baking{3});
}
