// SPDX-License-Identifier: MIT
//
// expect: the name of an enumeration or of one of its values
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <eventlog/eventlog.hpp>

enum class color : int { red };

template <>
inline constexpr eventlog::enum_info eventlog::enum_info_of<color>{.values = {{0, "dark red"}}};

struct painted {
    color with;
};

void emit_it() {
    eventlog::provider<"bad", painted>::emit(painted{});
}
