// SPDX-License-Identifier: MIT
//
// expect: an event has an invalid kind
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct lost {
    std::uint32_t bytes;
};

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<lost>{
    .kind = static_cast<eventlog::kind>(7)};

void emit_it() {
    eventlog::provider<"bad", lost>::schema();
}
