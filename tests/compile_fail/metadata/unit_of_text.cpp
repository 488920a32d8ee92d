// SPDX-License-Identifier: MIT
//
// expect: a field that is not a number has a unit
#include <string_view>

#include <eventlog/eventlog.hpp>

struct lost {
    std::string_view reason;
};

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<lost>{
    .fields = {{.member = "reason", .unit = "B"}}};

void emit_it() {
    eventlog::provider<"bad", lost>::emit(lost{});
}
