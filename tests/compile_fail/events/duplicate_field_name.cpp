// SPDX-License-Identifier: MIT
//
// expect: two fields of an event have the same name
// expect: collides
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct inner {
    int b;
};
struct collides {
    inner a;
    int a_b;
};

void emit_it() {
    eventlog::provider<"bad", collides>::emit(collides{});
}
