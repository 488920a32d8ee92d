// SPDX-License-Identifier: MIT
//
// expect: the type of an event cannot be its name
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
};

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<lost>{.name = "lost segment"};

void emit_it() {
    eventlog::provider<"bad", lost>::emit(lost{});
}
