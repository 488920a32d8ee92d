// SPDX-License-Identifier: MIT
//
// expect: an event has an invalid level
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
    .level = static_cast<eventlog::level>(6)};

void emit_it() {
    eventlog::provider<"bad", lost>::schema();
}
