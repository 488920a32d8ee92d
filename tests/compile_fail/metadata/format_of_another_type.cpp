// SPDX-License-Identifier: MIT
//
// expect: a field's format does not suit its type
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct lost {
    float ratio;
};

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<lost>{
    .fields = {{.member = "ratio", .format = eventlog::format::hexadecimal}}};

void emit_it() {
    eventlog::provider<"bad", lost>::emit(lost{});
}
