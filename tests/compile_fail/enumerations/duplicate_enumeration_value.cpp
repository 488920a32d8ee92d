// SPDX-License-Identifier: MIT
//
// expect: two values of an enumeration the same name, or one value two names

#include <eventlog/eventlog.hpp>

enum class color : int { red, green };

template <>
inline constexpr eventlog::enum_info eventlog::enum_info_of<color>{
    .values = {{0, "red"}, {1, "green"}, {0, "scarlet"}}};

struct painted {
    color with;
};

void emit_it() {
    eventlog::provider<"bad", painted>::emit(painted{});
}
