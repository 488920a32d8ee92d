// SPDX-License-Identifier: MIT
//
// expect: a field is a std::optional of a type that cannot be optional
#include <optional>

#include <eventlog/eventlog.hpp>

struct seen {
    std::optional<std::optional<int>> number;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
