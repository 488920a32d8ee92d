// SPDX-License-Identifier: MIT
//
// expect: the traits of an event describe a field twice
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
    .fields = {{.of = "bytes", .unit = "B"}, {.of = "bytes", .description = "of the segment"}}};

void emit_it() {
    eventlog::provider<"bad", lost>::schema();
}
