// SPDX-License-Identifier: MIT
//
// The event of a timed event has its metadata twice.
#include <cstdint>

#include <eventlog/eventlog.hpp>

// expect: eventlog: an event has both a member info and a specialization of eventlog::event_info_of. Remove the specialization.
struct baking {
    static constexpr eventlog::event_info info{.description = "Bread is baked"};
    std::uint32_t loaves;
};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<baking>{.description = "Bread"};
using bakery = eventlog::provider<"bakery", eventlog::timed<baking>>;

void bake() {
    bakery::emit(eventlog::timed<baking>{});
}
