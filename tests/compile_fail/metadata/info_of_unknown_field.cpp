// SPDX-License-Identifier: MIT
//
// expect: the metadata of an event describes a field that it does not have
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
inline constexpr eventlog::event_info eventlog::event_info_of<lost>{
    .fields = {{.member = "byte", .unit = "B"}}};

void emit_it() {
    eventlog::provider<"bad", lost>::emit(lost{});
}
