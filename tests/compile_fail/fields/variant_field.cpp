// SPDX-License-Identifier: MIT
//
// expect: a field of this event has a type that is not supported
#include <variant>

#include <eventlog/eventlog.hpp>

struct seen {
    std::variant<int, float> value;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
