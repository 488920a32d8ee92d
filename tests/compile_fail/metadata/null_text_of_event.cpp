// SPDX-License-Identifier: MIT
//
// expect: a text in an eventlog::event_info
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct seen {
    std::uint32_t number;
};

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<seen>{
    .fields = {{.member = "number", .unit = nullptr}}};

void emit_it() {
    eventlog::provider<"bad", seen>::emit(seen{1});
}
