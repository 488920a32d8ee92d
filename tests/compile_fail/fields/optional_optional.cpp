// SPDX-License-Identifier: MIT
//
// expect: a field of this event has a type that is not supported
#include <optional>

#include <eventlog/eventlog.hpp>

struct seen {
    std::optional<std::optional<int>> number;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
