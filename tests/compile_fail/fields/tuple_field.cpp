// SPDX-License-Identifier: MIT
//
// expect: a field of this event has a type that is not supported
#include <tuple>

#include <eventlog/eventlog.hpp>

struct seen {
    std::tuple<int, float> values;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
