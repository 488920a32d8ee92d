// SPDX-License-Identifier: MIT
//
// expect: a session-bound event already has a first field named session
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct lost {
    std::uint64_t session;
};

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<lost>{.session_bound = true};

void emit_it() {
    eventlog::provider<"bad", lost>::schema();
}
