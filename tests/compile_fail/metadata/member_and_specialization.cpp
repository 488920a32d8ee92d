// SPDX-License-Identifier: MIT
//
// expect: an event has both a member info and a specialization
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct lost {
    static constexpr eventlog::event_info info{.level = eventlog::level::warn};
    std::uint32_t bytes;
};

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<lost>{.level =
                                                                        eventlog::level::error};

void emit_it() {
    eventlog::provider<"bad", lost>::emit(lost{});
}
