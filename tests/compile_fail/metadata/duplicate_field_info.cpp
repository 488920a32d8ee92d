// SPDX-License-Identifier: MIT
//
// expect: the metadata of an event describes a field twice
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct lost {
    std::uint32_t bytes;
    std::string_view reason;
};

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<lost>{
    .fields = {{.member = "bytes", .unit = "B"},
               {.member = "bytes", .description = "of the segment"}}};

void emit_it() {
    eventlog::provider<"bad", lost>::schema();
}
