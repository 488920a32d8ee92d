// SPDX-License-Identifier: MIT
//
// expect: a field of this event has a type that is not supported
#include <chrono>

#include <eventlog/eventlog.hpp>

struct seen {
    std::chrono::file_clock::time_point when;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
