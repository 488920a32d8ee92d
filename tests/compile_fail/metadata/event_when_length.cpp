// SPDX-License-Identifier: MIT
//
// expect: description or `when` of an event is longer than 255 bytes
#include <cstdint>

#include <eventlog/eventlog.hpp>

/// 256 letters.
constexpr const char* text = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

struct lost {
    std::uint32_t bytes;
};

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<lost>{.when = text};

void emit_it() {
    eventlog::provider<"bad", lost>::schema();
}
