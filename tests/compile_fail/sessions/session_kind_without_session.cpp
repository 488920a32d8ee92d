// SPDX-License-Identifier: MIT
//
// expect: an event that begins or ends a session is not session-bound
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
    .kind = eventlog::kind::session_begin};

void emit_it() {
    eventlog::provider<"bad", lost>::schema();
}
