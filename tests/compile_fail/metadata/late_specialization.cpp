// SPDX-License-Identifier: MIT
//
// expect: after instantiation
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct lost {
    std::uint32_t bytes;
};
using tcp = eventlog::provider<"tcp", lost>;

void emit_it() {
    tcp::emit(lost{});
}

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<lost>{.level = eventlog::level::warn};
