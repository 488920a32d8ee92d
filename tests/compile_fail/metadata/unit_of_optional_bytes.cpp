// SPDX-License-Identifier: MIT
//
// expect: a field that is not a number has a unit
#include <cstddef>
#include <optional>
#include <span>

#include <eventlog/eventlog.hpp>

struct received {
    std::optional<std::span<const std::byte>> data;
};

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<received>{
    .fields = {{.member = "data", .unit = "B"}}};

void emit_it() {
    eventlog::provider<"bad", received>::emit(received{});
}
