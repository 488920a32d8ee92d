// SPDX-License-Identifier: MIT
//
// expect: an event's fields take more than a record can hold
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct has_much {
    std::array<std::uint64_t, 10000> numbers;
};

void emit_it() {
    eventlog::provider<"bad", has_much>::emit(has_much{});
}
