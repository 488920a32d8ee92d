// SPDX-License-Identifier: MIT
//
// expect: a field's name needs 1 to 63 letters, digits and _
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct lost {
    std::uint32_t bytes;
};

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<lost>{
    .fields = {{.member = "bytes", .name = "bytes lost"}}};

void emit_it() {
    eventlog::provider<"bad", lost>::schema();
}
