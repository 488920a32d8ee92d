// SPDX-License-Identifier: MIT
//
// expect: a struct in an event has a C array as field
// expect: inner
// expect-pfr: names provided for structured binding
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct inner {
    std::uint32_t number;
    int numbers[4];
};
struct outer {
    inner part;
};

void emit_it() {
    eventlog::provider<"bad", outer>::emit(outer{});
}
