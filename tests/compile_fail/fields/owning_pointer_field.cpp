// SPDX-License-Identifier: MIT
//
// expect: a field of this event has a type that is not supported
// expect: has_owner
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct has_owner {
    std::unique_ptr<int> number;
};

void emit_it() {
    eventlog::provider<"bad", has_owner>::emit([] { return has_owner{}; });
}
