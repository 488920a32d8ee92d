// SPDX-License-Identifier: MIT
//
// expect: an event has a keyword that its provider does not name
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
inline constexpr eventlog::event_info eventlog::event_info_of<lost>{.keywords = 1};

void emit_it() {
    eventlog::provider<"bad", lost>::emit(lost{});
}
