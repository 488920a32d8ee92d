// SPDX-License-Identifier: MIT
//
// expect: describes a field without naming it
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
inline constexpr eventlog::event_info eventlog::event_info_of<lost>{.fields = {{.unit = "B"}}};

void emit_it() {
    eventlog::provider<"bad", lost>::schema();
}
