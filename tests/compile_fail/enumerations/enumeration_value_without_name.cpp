// SPDX-License-Identifier: MIT
//
// expect: the name of an enumeration or of one of its values

#include <eventlog/eventlog.hpp>

enum class color : int { red, green };

template <>
inline constexpr eventlog::enum_info eventlog::enum_info_of<color>{
    .values = {{0, "red"}, {1, ""}, {2, "blue"}}};

struct painted {
    color with;
};

void emit_it() {
    eventlog::provider<"bad", painted>::emit(painted{});
}
