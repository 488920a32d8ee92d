// SPDX-License-Identifier: MIT
//
// expect: an event has an invalid oversize
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct lost {
    std::uint32_t bytes;
};

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<lost>{
    .oversize = static_cast<eventlog::oversize>(2)};

void emit_it() {
    eventlog::provider<"bad", lost>::schema();
}
