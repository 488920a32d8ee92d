// SPDX-License-Identifier: MIT
//
// expect: a field is a std::optional of a type that cannot be optional
// expect: has_maybe
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct inner {
    int number;
};
struct has_maybe {
    std::optional<inner> part;
};

void emit_it() {
    eventlog::provider<"bad", has_maybe>::emit(has_maybe{});
}
